/**
 * Finds Chromium.
 *
 * @module
 */

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** Returns the path of the browser, or `undefined` if none is installed. */
export function findChromium(): string | undefined {
  const directories = (Deno.env.get("PATH") ?? "").split(":");
  return directories.flatMap((directory) => PROGRAMS.map((name) => `${directory}/${name}`)).find(
    (path) => {
      try {
        return Deno.statSync(path).isFile;
      } catch {
        return false;
      }
    },
  );
}
