export const add = (a, b) => a + b;

export const divide = (a, b) => {
  if (b === 0) {
    throw new RangeError('division by zero');
  }
  return a / b;
};
