int u, v; signed char du, dv;
void init(void){u=0;v=0;}
void step(void){
 if(du>0 && u<1000) u++; if(du<0 && u>0) u--; if(dv>0 && v<1000) v++; if(dv<0 && v>0) v--; }
