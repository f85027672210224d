'use strict';
exports.add = (a, b) => a + b;
exports.fail = (why) => {
  throw new RangeError(why);
};
