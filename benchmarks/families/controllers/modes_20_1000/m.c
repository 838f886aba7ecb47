unsigned short mode, timer; unsigned char sel;
void init(void){mode=0;timer=0;}
void step(void){
 switch(mode){
  case 0:
    if(sel==0 && timer>=655){ mode=1; timer=0; return; }
    if(sel==1 && timer>=141){ mode=2; timer=0; return; }
    if(sel==2 && timer>=706){ mode=3; timer=0; return; }
    break;
  case 1:
    if(sel==0 && timer>=934){ mode=2; timer=0; return; }
    break;
  case 2:
    if(sel==0 && timer>=776){ mode=3; timer=0; return; }
    break;
  case 3:
    if(sel==0 && timer>=710){ mode=4; timer=0; return; }
    if(sel==1 && timer>=153){ mode=8; timer=0; return; }
    break;
  case 4:
    if(sel==0 && timer>=862){ mode=5; timer=0; return; }
    break;
  case 5:
    if(sel==0 && timer>=264){ mode=6; timer=0; return; }
    if(sel==1 && timer>=373){ mode=2; timer=0; return; }
    if(sel==2 && timer>=491){ mode=9; timer=0; return; }
    break;
  case 6:
    if(sel==0 && timer>=854){ mode=7; timer=0; return; }
    if(sel==1 && timer>=125){ mode=1; timer=0; return; }
    if(sel==2 && timer>=583){ mode=5; timer=0; return; }
    break;
  case 7:
    if(sel==0 && timer>=557){ mode=8; timer=0; return; }
    break;
  case 8:
    if(sel==0 && timer>=471){ mode=9; timer=0; return; }
    if(sel==1 && timer>=621){ mode=4; timer=0; return; }
    if(sel==2 && timer>=246){ mode=3; timer=0; return; }
    break;
  case 9:
    if(sel==0 && timer>=267){ mode=0; timer=0; return; }
    if(sel==1 && timer>=295){ mode=6; timer=0; return; }
    break;
 }
 if(timer<1000) timer++; }
