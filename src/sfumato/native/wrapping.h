/* From Python to translated loops and back: arguments are checked, answers become Python's and NumPy's. */
/* An array as the loops see it; 0 where it holds something else, or not side by side. */
static inline int fits(PyObject *value, char kind, int width, int dimensions, int written) {
  if (!PyArray_Check(value)) return 0;
  PyArrayObject *array = (PyArrayObject *)value;
  PyArray_Descr *type = PyArray_DESCR(array);
  if (PyArray_NDIM(array) != dimensions || type->kind != kind || PyDataType_ELSIZE(type) != width) return 0;
  if (!PyArray_ISBEHAVED_RO(array) || (written && !PyArray_ISWRITEABLE(array))) return 0;
  int last = dimensions - 1;
  return PyArray_SIZE(array) <= 1 || PyArray_DIM(array, last) <= 1 || PyArray_STRIDE(array, last) == width;
}
#define UNWRAP(K, T, KIND) \
  static inline int get_##K##x1(PyObject *value, Array_##K##x1 *to, int written) { \
    if (!fits(value, KIND, sizeof(T), 1, written)) return 0; \
    PyArrayObject *array = (PyArrayObject *)value; \
    *to = (Array_##K##x1){PyArray_DATA(array), PyArray_DIM(array, 0)}; \
    return 1; } \
  static inline int get_##K##x2(PyObject *value, Array_##K##x2 *to, int written) { \
    if (!fits(value, KIND, sizeof(T), 2, written)) return 0; \
    PyArrayObject *array = (PyArrayObject *)value; \
    *to = (Array_##K##x2){PyArray_DATA(array), PyArray_DIM(array, 0), PyArray_DIM(array, 1), \
                          PyArray_STRIDE(array, 0) / (int64_t)sizeof(T)}; \
    return 1; } \
  static inline int get_##K##x3(PyObject *value, Array_##K##x3 *to, int written) { \
    if (!fits(value, KIND, sizeof(T), 3, written)) return 0; \
    PyArrayObject *array = (PyArrayObject *)value; \
    *to = (Array_##K##x3){PyArray_DATA(array), PyArray_DIM(array, 0), PyArray_DIM(array, 1), PyArray_DIM(array, 2), \
                          PyArray_STRIDE(array, 0) / (int64_t)sizeof(T), PyArray_STRIDE(array, 1) / (int64_t)sizeof(T)}; \
    return 1; }
UNWRAP(b1, uint8_t, 'b')
UNWRAP(u1, uint8_t, 'u')
UNWRAP(i1, int8_t, 'i')
UNWRAP(i2, int16_t, 'i')
UNWRAP(i4, int32_t, 'i')
UNWRAP(i8, int64_t, 'i')
UNWRAP(u4, uint32_t, 'u')
UNWRAP(u8, uint64_t, 'u')
UNWRAP(f8, double, 'f')

static inline int get_i8(PyObject *value, int64_t *to, int written) {
  if (PyFloat_Check(value)) return 0;
  PyObject *number = PyNumber_Index(value);
  if (!number) return PyErr_Clear(), 0;
  *to = PyLong_AsLongLong(number);
  Py_DECREF(number);
  return !(*to == -1 && PyErr_Occurred() && (PyErr_Clear(), 1));
}
static inline int get_u8(PyObject *value, uint64_t *to, int written) {
  PyObject *number = PyNumber_Index(value);
  if (!number) return PyErr_Clear(), 0;
  *to = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  return !(*to == (uint64_t)-1 && PyErr_Occurred() && (PyErr_Clear(), 1));
}
static inline int get_f8(PyObject *value, double *to, int written) {
  *to = PyFloat_AsDouble(value);
  return !(*to == -1.0 && PyErr_Occurred() && (PyErr_Clear(), 1));
}
static inline int get_b1(PyObject *value, uint8_t *to, int written) {
  int truth = PyObject_IsTrue(value);
  *to = truth > 0;
  return truth >= 0 || (PyErr_Clear(), 0);
}

#define WRAP(K, T, NPY) \
  static inline PyObject *give_##K##x1(Array_##K##x1 from) { \
    npy_intp sizes[] = {from.n0}; \
    PyObject *made = PyArray_SimpleNew(1, sizes, NPY); \
    if (made && from.n0 > 0) memcpy(PyArray_DATA((PyArrayObject *)made), from.d, from.n0 * sizeof(T)); \
    return made; } \
  static inline PyObject *give_##K##x2(Array_##K##x2 from) { \
    npy_intp sizes[] = {from.n0, from.n1}; \
    PyObject *made = PyArray_SimpleNew(2, sizes, NPY); \
    if (made) copy_##K##x2((Array_##K##x2){PyArray_DATA((PyArrayObject *)made), from.n0, from.n1, from.n1}, from); \
    return made; }
WRAP(b1, uint8_t, NPY_BOOL)
WRAP(u1, uint8_t, NPY_UINT8)
WRAP(i1, int8_t, NPY_INT8)
WRAP(i2, int16_t, NPY_INT16)
WRAP(i4, int32_t, NPY_INT32)
WRAP(i8, int64_t, NPY_INT64)
WRAP(u8, uint64_t, NPY_UINT64)
WRAP(f8, double, NPY_FLOAT64)
static inline PyObject *give_i8(int64_t value) { return PyLong_FromLongLong(value); }
static inline PyObject *give_u8(uint64_t value) { return PyLong_FromUnsignedLongLong(value); }
static inline PyObject *give_f8(double value) { return PyFloat_FromDouble(value); }
static inline PyObject *give_b1(uint8_t value) { return PyBool_FromLong(value); }
