export default { test: { include: ['test/failing.js'] } };
