// A kernel that ptxas must refuse: its array is indexed at run time, so it cannot lie in registers. With
// PHY_IN_REGISTERS there is nothing to refuse.
__global__ void local_array(int* numbers) {
    int array[64];
    for (int i = 0; i < 64; ++i)
        array[i] = numbers[i] * i;
#ifndef PHY_IN_REGISTERS
    for (int i = 0; i < 64; ++i)
        array[numbers[i] & 63] += i;
#endif
    numbers[0] = array[17];
}
