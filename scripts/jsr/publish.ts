/**
 * Builds the package of the JSR registry and publishes it. The arguments are passed to `deno publish`.
 *
 * @module
 */

import { choosePackages } from "../packages.ts";
import { buildPackageIfChanged, packageDirectory } from "./build.ts";

if (import.meta.main) {
  const { set, reason } = await choosePackages();
  if (set === "offline" && !Deno.args.includes("--dry-run")) {
    console.error(
      `The package is not published, because its program would have the offline packages (${reason}). ` +
        "Use those of JSR: SWINK_PACKAGES=jsr deno run -A scripts/jsr/publish.ts",
    );
    Deno.exit(1);
  }
  await buildPackageIfChanged();
  const config = set === "jsr" ? "deno.json" : "deno.offline.json";
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["publish", "--config", config, ...Deno.args],
    cwd: packageDirectory,
  }).spawn().status;
  Deno.exit(code);
}
