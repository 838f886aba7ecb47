/*-----------------------------------------------------------------------------
 *  Water meter with leak detection. MTR_Cyclic() runs every second.
 *---------------------------------------------------------------------------*/
#include "std_types.h"

#define MTR_PULSES_PER_LITRE   4U
#define MTR_LEAK_TIME          900U   /* s of flow without a pause */
#define MTR_BURST_RATE         12U    /* pulses per second */
#define MTR_BURST_TIME         5U
#define MTR_DAY                86400UL
#define MTR_LIMIT_DEFAULT      2000UL /* litres per day */

typedef enum { MTR_OK, MTR_LEAK, MTR_BURST, MTR_LIMIT, MTR_TAMPER } Mtr_StatusType;

typedef struct
{
    Mtr_StatusType Status;
    uint32 Seconds;        /* since power on */
    uint32 Pulses;         /* free running */
    uint32 DayStart;       /* pulses at the start of the day */
    uint32 NextDay;
    uint16 FlowTime;
    uint16 PauseTime;
    uint8  BurstTime;
    uint8  TamperCount;    /* saturates */
    boolean ValveClosed;
} Mtr_DataType;

static Mtr_DataType Mtr_Data;

void MTR_Init(void)
{
    Mtr_Data.Status = MTR_OK;
    Mtr_Data.Seconds = 0UL;
    Mtr_Data.Pulses = 0UL;
    Mtr_Data.DayStart = 0UL;
    Mtr_Data.NextDay = MTR_DAY;
    Mtr_Data.FlowTime = 0U;
    Mtr_Data.PauseTime = 0U;
    Mtr_Data.BurstTime = 0U;
    Mtr_Data.TamperCount = 0U;
    Mtr_Data.ValveClosed = FALSE;
}

static void Mtr_Count(uint8 pulses)
{
    Mtr_Data.Pulses += pulses;
    if (pulses > 0U)
    {
        if (Mtr_Data.FlowTime < 0xFFFFU)
        {
            Mtr_Data.FlowTime++;
        }
        Mtr_Data.PauseTime = 0U;
    }
    else
    {
        if (Mtr_Data.PauseTime < 60U)
        {
            Mtr_Data.PauseTime++;
        }
        if (Mtr_Data.PauseTime >= 60U)
        {
            Mtr_Data.FlowTime = 0U;
        }
    }
    if (pulses >= MTR_BURST_RATE)
    {
        if (Mtr_Data.BurstTime < 255U)
        {
            Mtr_Data.BurstTime++;
        }
    }
    else
    {
        Mtr_Data.BurstTime = 0U;
    }
}

void MTR_Cyclic(uint8 pulses, boolean magnet, boolean open_cmd, uint8* valve)
{
    uint32 litres;

    Mtr_Data.Seconds++;
    if (Mtr_Data.Seconds >= Mtr_Data.NextDay)
    {
        Mtr_Data.NextDay += MTR_DAY;
        Mtr_Data.DayStart = Mtr_Data.Pulses;
    }
    Mtr_Count(pulses);
    litres = (Mtr_Data.Pulses - Mtr_Data.DayStart) / MTR_PULSES_PER_LITRE;

    if (magnet == TRUE)
    {
        if (Mtr_Data.TamperCount < 255U)
        {
            Mtr_Data.TamperCount++;
        }
    }

    if (Mtr_Data.Status == MTR_OK)
    {
        if (Mtr_Data.TamperCount > 30U)
        {
            Mtr_Data.Status = MTR_TAMPER;
        }
        else if (Mtr_Data.BurstTime >= MTR_BURST_TIME)
        {
            Mtr_Data.Status = MTR_BURST;
            Mtr_Data.ValveClosed = TRUE;
        }
        else if (Mtr_Data.FlowTime >= MTR_LEAK_TIME)
        {
            Mtr_Data.Status = MTR_LEAK;
            Mtr_Data.ValveClosed = TRUE;
        }
        else if (litres > MTR_LIMIT_DEFAULT)
        {
            Mtr_Data.Status = MTR_LIMIT;
        }
        else
        {
            /* nothing to do */
        }
    }
    else if ((open_cmd == TRUE) && (magnet == FALSE))
    {
        Mtr_Data.Status = MTR_OK;
        Mtr_Data.ValveClosed = FALSE;
        Mtr_Data.FlowTime = 0U;
        Mtr_Data.TamperCount = 0U;
    }
    else
    {
        /* wait for the command */
    }
    *valve = (Mtr_Data.ValveClosed == TRUE) ? 0U : 100U;
}
