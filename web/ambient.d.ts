/** What the build makes of imports that are no TypeScript (scripts/build-console.ts). */

declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}

declare module '*.css';

/** A script of its own, for worklets and workers: the absolute address of the built file. */
declare module '*?url' {
  const address: string;
  export default address;
}
