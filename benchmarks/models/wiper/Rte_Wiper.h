/* What the RTE generator would write for the component Wiper: its types and the prototypes of its ports. */
#ifndef RTE_WIPER_H
#define RTE_WIPER_H

typedef unsigned char uint8;
typedef unsigned char boolean;
typedef uint8 Std_ReturnType;
typedef uint8 Lever_Type;
typedef uint8 Speed_Type;

#define FALSE 0U
#define TRUE 1U
#define RTE_E_OK 0U
#define RTE_E_INVALID 1U
#define LEVER_OFF 0U
#define LEVER_AUTO 1U
#define LEVER_SLOW 2U
#define LEVER_FAST 3U
#define SPEED_OFF 0U
#define SPEED_SLOW 1U
#define SPEED_FAST 2U

/* receiver ports */
extern Lever_Type Rte_IRead_Wiper_Step_Lever_Position(void);
extern boolean Rte_IRead_Wiper_Step_Motor_InPark(void);
extern Std_ReturnType Rte_Read_Washer_Button(boolean *data);
extern Std_ReturnType Rte_Read_Rain_Level(uint8 *data);

/* sender ports */
extern void Rte_IWrite_Wiper_Step_Motor_Speed(Speed_Type data);
extern Std_ReturnType Rte_Write_Washer_Pump(boolean data);

/* the inter-runnable variable WipesLeft, calibration, exclusive area */
extern void Rte_IrvIWrite_Wiper_Init_WipesLeft(uint8 data);
extern uint8 Rte_IrvIRead_Wiper_Step_WipesLeft(void);
extern void Rte_IrvIWrite_Wiper_Step_WipesLeft(uint8 data);
extern uint8 Rte_CData_WipesAfterWash(void);
extern void Rte_Enter_Timing(void);
extern void Rte_Exit_Timing(void);

/* runnables */
extern void Wiper_Init(void);
extern void Wiper_Step(void);

#endif
