/** Types of imports that the bundler handles and TypeScript does not (scripts/build-console.ts). */

declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}

declare module '*.css';

/** A separate script for a worklet or worker; the import is the absolute URL of the built file. */
declare module '*?url' {
  const address: string;
  export default address;
}
