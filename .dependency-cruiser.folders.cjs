/** No cycles between the folders of the product. Tests are left out: they import the product and the test harness. */
const { options } = require('./.dependency-cruiser.cjs');

module.exports = {
  forbidden: [
    {
      name: 'no-cycles-between-folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: ['\\.test\\.tsx?$', options.exclude.path] } },
};
