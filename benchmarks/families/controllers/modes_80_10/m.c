unsigned short mode, timer; unsigned char sel;
void init(void){mode=0;timer=0;}
void step(void){
 switch(mode){
  case 0:
    if(sel==0 && timer>=5){ mode=1; timer=0; return; }
    if(sel==1 && timer>=8){ mode=21; timer=0; return; }
    if(sel==2 && timer>=4){ mode=36; timer=0; return; }
    if(sel==3 && timer>=8){ mode=30; timer=0; return; }
    if(sel==4 && timer>=8){ mode=27; timer=0; return; }
    break;
  case 1:
    if(sel==0 && timer>=8){ mode=2; timer=0; return; }
    if(sel==1 && timer>=3){ mode=25; timer=0; return; }
    if(sel==2 && timer>=10){ mode=27; timer=0; return; }
    break;
  case 2:
    if(sel==0 && timer>=2){ mode=3; timer=0; return; }
    if(sel==1 && timer>=5){ mode=34; timer=0; return; }
    break;
  case 3:
    if(sel==0 && timer>=10){ mode=4; timer=0; return; }
    if(sel==1 && timer>=9){ mode=0; timer=0; return; }
    if(sel==2 && timer>=9){ mode=23; timer=0; return; }
    break;
  case 4:
    if(sel==0 && timer>=8){ mode=5; timer=0; return; }
    if(sel==1 && timer>=9){ mode=12; timer=0; return; }
    if(sel==2 && timer>=8){ mode=20; timer=0; return; }
    break;
  case 5:
    if(sel==0 && timer>=3){ mode=6; timer=0; return; }
    break;
  case 6:
    if(sel==0 && timer>=3){ mode=7; timer=0; return; }
    break;
  case 7:
    if(sel==0 && timer>=1){ mode=8; timer=0; return; }
    break;
  case 8:
    if(sel==0 && timer>=6){ mode=9; timer=0; return; }
    if(sel==1 && timer>=7){ mode=0; timer=0; return; }
    break;
  case 9:
    if(sel==0 && timer>=1){ mode=10; timer=0; return; }
    break;
  case 10:
    if(sel==0 && timer>=0){ mode=11; timer=0; return; }
    break;
  case 11:
    if(sel==0 && timer>=5){ mode=12; timer=0; return; }
    break;
  case 12:
    if(sel==0 && timer>=3){ mode=13; timer=0; return; }
    break;
  case 13:
    if(sel==0 && timer>=1){ mode=14; timer=0; return; }
    break;
  case 14:
    if(sel==0 && timer>=0){ mode=15; timer=0; return; }
    if(sel==1 && timer>=9){ mode=36; timer=0; return; }
    if(sel==2 && timer>=5){ mode=30; timer=0; return; }
    break;
  case 15:
    if(sel==0 && timer>=8){ mode=16; timer=0; return; }
    if(sel==1 && timer>=1){ mode=10; timer=0; return; }
    break;
  case 16:
    if(sel==0 && timer>=10){ mode=17; timer=0; return; }
    if(sel==1 && timer>=10){ mode=21; timer=0; return; }
    if(sel==2 && timer>=10){ mode=25; timer=0; return; }
    if(sel==3 && timer>=1){ mode=18; timer=0; return; }
    if(sel==4 && timer>=7){ mode=33; timer=0; return; }
    break;
  case 17:
    if(sel==0 && timer>=2){ mode=18; timer=0; return; }
    if(sel==1 && timer>=0){ mode=0; timer=0; return; }
    if(sel==2 && timer>=9){ mode=37; timer=0; return; }
    break;
  case 18:
    if(sel==0 && timer>=5){ mode=19; timer=0; return; }
    break;
  case 19:
    if(sel==0 && timer>=0){ mode=20; timer=0; return; }
    break;
  case 20:
    if(sel==0 && timer>=1){ mode=21; timer=0; return; }
    if(sel==1 && timer>=10){ mode=27; timer=0; return; }
    if(sel==2 && timer>=1){ mode=15; timer=0; return; }
    break;
  case 21:
    if(sel==0 && timer>=9){ mode=22; timer=0; return; }
    if(sel==1 && timer>=10){ mode=14; timer=0; return; }
    if(sel==2 && timer>=2){ mode=16; timer=0; return; }
    break;
  case 22:
    if(sel==0 && timer>=2){ mode=23; timer=0; return; }
    if(sel==1 && timer>=6){ mode=4; timer=0; return; }
    break;
  case 23:
    if(sel==0 && timer>=2){ mode=24; timer=0; return; }
    break;
  case 24:
    if(sel==0 && timer>=7){ mode=25; timer=0; return; }
    if(sel==1 && timer>=6){ mode=31; timer=0; return; }
    break;
  case 25:
    if(sel==0 && timer>=2){ mode=26; timer=0; return; }
    break;
  case 26:
    if(sel==0 && timer>=3){ mode=27; timer=0; return; }
    break;
  case 27:
    if(sel==0 && timer>=5){ mode=28; timer=0; return; }
    if(sel==1 && timer>=7){ mode=37; timer=0; return; }
    if(sel==2 && timer>=7){ mode=23; timer=0; return; }
    break;
  case 28:
    if(sel==0 && timer>=10){ mode=29; timer=0; return; }
    if(sel==1 && timer>=8){ mode=21; timer=0; return; }
    if(sel==2 && timer>=10){ mode=31; timer=0; return; }
    break;
  case 29:
    if(sel==0 && timer>=7){ mode=30; timer=0; return; }
    break;
  case 30:
    if(sel==0 && timer>=10){ mode=31; timer=0; return; }
    if(sel==1 && timer>=3){ mode=2; timer=0; return; }
    break;
  case 31:
    if(sel==0 && timer>=5){ mode=32; timer=0; return; }
    break;
  case 32:
    if(sel==0 && timer>=0){ mode=33; timer=0; return; }
    if(sel==1 && timer>=1){ mode=12; timer=0; return; }
    if(sel==2 && timer>=7){ mode=13; timer=0; return; }
    break;
  case 33:
    if(sel==0 && timer>=8){ mode=34; timer=0; return; }
    if(sel==1 && timer>=4){ mode=0; timer=0; return; }
    break;
  case 34:
    if(sel==0 && timer>=0){ mode=35; timer=0; return; }
    if(sel==1 && timer>=0){ mode=37; timer=0; return; }
    if(sel==2 && timer>=5){ mode=38; timer=0; return; }
    break;
  case 35:
    if(sel==0 && timer>=3){ mode=36; timer=0; return; }
    if(sel==1 && timer>=0){ mode=10; timer=0; return; }
    break;
  case 36:
    if(sel==0 && timer>=1){ mode=37; timer=0; return; }
    break;
  case 37:
    if(sel==0 && timer>=5){ mode=38; timer=0; return; }
    break;
  case 38:
    if(sel==0 && timer>=10){ mode=39; timer=0; return; }
    if(sel==1 && timer>=5){ mode=20; timer=0; return; }
    if(sel==2 && timer>=5){ mode=6; timer=0; return; }
    break;
  case 39:
    if(sel==0 && timer>=9){ mode=0; timer=0; return; }
    break;
 }
 if(timer<10) timer++; }
