/**
 * Installs the server of Restate from npm in `dist/restate`, for the tests in `tests/durable`.
 *
 * @module
 */

const SERVER = "@restatedev/restate-server@1.7.12";
const directory = new URL("../dist/restate/", import.meta.url);

if (import.meta.main) {
  await Deno.mkdir(directory, { recursive: true });
  // The scripts of the package only report the installation.
  const flags = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"];
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", ...flags, "--prefix", ".", SERVER],
    cwd: directory,
    stdin: "null",
  }).output();
  if (!success) throw new Error(`Cannot install ${SERVER}: ${new TextDecoder().decode(stderr)}`);
  console.log("Installed the server of Restate in dist/restate");
}
