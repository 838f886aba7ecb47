#ifndef CHAINCOVER_MATH_H
#define CHAINCOVER_MATH_H
double fabs(double x);
float fabsf(float x);
double floor(double x);
float floorf(float x);
double ceil(double x);
float ceilf(float x);
double sqrt(double x);
double fmod(double x, double y);
double pow(double x, double y);
double sin(double x);
double cos(double x);
#endif
