#ifndef CHAINCOVER_CTYPE_H
#define CHAINCOVER_CTYPE_H
int isalnum(int character);
int isalpha(int character);
int isdigit(int character);
int isspace(int character);
int isupper(int character);
int islower(int character);
int tolower(int character);
int toupper(int character);
#endif
