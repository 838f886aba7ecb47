unsigned short mode, timer; unsigned char sel;
void init(void){mode=0;timer=0;}
void step(void){
 switch(mode){
  case 0:
    if(sel==0 && timer>=6){ mode=1; timer=0; return; }
    if(sel==1 && timer>=0){ mode=4; timer=0; return; }
    break;
  case 1:
    if(sel==0 && timer>=8){ mode=2; timer=0; return; }
    break;
  case 2:
    if(sel==0 && timer>=0){ mode=3; timer=0; return; }
    break;
  case 3:
    if(sel==0 && timer>=1){ mode=4; timer=0; return; }
    if(sel==1 && timer>=10){ mode=1; timer=0; return; }
    if(sel==2 && timer>=1){ mode=17; timer=0; return; }
    break;
  case 4:
    if(sel==0 && timer>=7){ mode=5; timer=0; return; }
    if(sel==1 && timer>=8){ mode=16; timer=0; return; }
    if(sel==2 && timer>=2){ mode=3; timer=0; return; }
    break;
  case 5:
    if(sel==0 && timer>=5){ mode=6; timer=0; return; }
    break;
  case 6:
    if(sel==0 && timer>=2){ mode=7; timer=0; return; }
    break;
  case 7:
    if(sel==0 && timer>=10){ mode=8; timer=0; return; }
    if(sel==1 && timer>=4){ mode=1; timer=0; return; }
    break;
  case 8:
    if(sel==0 && timer>=10){ mode=9; timer=0; return; }
    if(sel==1 && timer>=8){ mode=3; timer=0; return; }
    break;
  case 9:
    if(sel==0 && timer>=1){ mode=10; timer=0; return; }
    if(sel==1 && timer>=3){ mode=4; timer=0; return; }
    break;
  case 10:
    if(sel==0 && timer>=0){ mode=11; timer=0; return; }
    if(sel==1 && timer>=3){ mode=5; timer=0; return; }
    break;
  case 11:
    if(sel==0 && timer>=5){ mode=12; timer=0; return; }
    if(sel==1 && timer>=3){ mode=2; timer=0; return; }
    break;
  case 12:
    if(sel==0 && timer>=5){ mode=13; timer=0; return; }
    break;
  case 13:
    if(sel==0 && timer>=0){ mode=14; timer=0; return; }
    if(sel==1 && timer>=0){ mode=11; timer=0; return; }
    if(sel==2 && timer>=2){ mode=7; timer=0; return; }
    break;
  case 14:
    if(sel==0 && timer>=6){ mode=15; timer=0; return; }
    break;
  case 15:
    if(sel==0 && timer>=10){ mode=16; timer=0; return; }
    if(sel==1 && timer>=4){ mode=18; timer=0; return; }
    if(sel==2 && timer>=6){ mode=0; timer=0; return; }
    if(sel==3 && timer>=5){ mode=9; timer=0; return; }
    break;
  case 16:
    if(sel==0 && timer>=2){ mode=17; timer=0; return; }
    if(sel==1 && timer>=3){ mode=8; timer=0; return; }
    if(sel==2 && timer>=9){ mode=19; timer=0; return; }
    break;
  case 17:
    if(sel==0 && timer>=4){ mode=18; timer=0; return; }
    if(sel==1 && timer>=10){ mode=10; timer=0; return; }
    if(sel==2 && timer>=2){ mode=13; timer=0; return; }
    break;
  case 18:
    if(sel==0 && timer>=1){ mode=19; timer=0; return; }
    if(sel==1 && timer>=3){ mode=15; timer=0; return; }
    break;
  case 19:
    if(sel==0 && timer>=5){ mode=0; timer=0; return; }
    break;
 }
 if(timer<10) timer++; }
