export const add = (a, b) => a + b;
export const fail = (why) => {
  throw new RangeError(why);
};
