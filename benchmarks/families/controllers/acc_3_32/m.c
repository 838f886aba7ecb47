#include <stdint.h>
unsigned int total; unsigned char valve; uint16_t flow; uint8_t open;
void init(void){total=0;valve=0;}
void step(void){ if(valve) total += flow; else if(total > flow/2) total -= flow/2; else total = 0; if(open==1) valve=1; if(open==2) valve=0; }
