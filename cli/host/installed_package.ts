/**
 * The npm packages that the program loads only when it needs them.
 *
 * @module
 */

/** The way in which this program was installed. */
export interface Installation {
  /** URL of this module. */
  readonly url: string;
  /** Returns the URL of an installed package; throws if there is none. */
  readonly resolve: (name: string) => string;
}

/** That of this process. */
export const INSTALLATION: Installation = { url: import.meta.url, resolve: import.meta.resolve };

/**
 * Returns what to install, as a sentence without a full stop, where a package is missing; `undefined` where it is
 * installed. Deno downloads packages for the program, but not for its npm package.
 *
 * @param subject What needs the package, in the plural, such as "MCP servers".
 */
export function describeMissingPackage(
  name: string,
  subject: string,
  { url, resolve }: Installation = INSTALLATION,
): string | undefined {
  if (!url.includes("/node_modules/")) return undefined;
  try {
    resolve(name);
    return undefined;
  } catch {
    return `${subject} need the npm package ${name}: npm install ${name}, ` +
      "with --global if swink is installed globally";
  }
}
