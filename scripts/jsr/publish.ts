/**
 * Builds the package of the JSR registry and publishes it. The arguments are passed to `deno publish`.
 *
 * @module
 */

import { choosePackages } from "../packages.ts";
import { buildPackageIfChanged, packageDirectory } from "./build.ts";

if (import.meta.main) {
  const { set } = await choosePackages();
  await buildPackageIfChanged();
  const config = set === "jsr" ? "deno.json" : "deno.offline.json";
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["publish", "--config", config, ...Deno.args],
    cwd: packageDirectory,
  }).spawn().status;
  Deno.exit(code);
}
