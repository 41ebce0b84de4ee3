/** Shared code of the clients for Node: settings and results. */

export const settings = JSON.parse(process.argv[2]);

export function report(check, result) {
  console.log(JSON.stringify({ check, ...result }));
}
