int u, v; signed char du, dv;
void init(void){u=0;v=0;}
void step(void){
 if(du>0 && u<40) u++; if(du<0 && u>0) u--; if(dv>0 && v<40) v++; if(dv<0 && v>0) v--; }
