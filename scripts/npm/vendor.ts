/**
 * Bundles packages of the JSR registry, which npm cannot install, or the offline ones that replace them.
 *
 * @module
 */

import { compileModule } from "./compile.ts";

/** Bundles the module with this specifier and everything that it imports, for Node 20. */
export async function bundlePackage(specifier: string, config: string): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "swink_vendor_" });
  try {
    const [entry, output] = [`${directory}/entry.ts`, `${directory}/bundle.js`];
    await Deno.writeTextFile(entry, `export * from ${JSON.stringify(specifier)};\n`);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--quiet", "-c", config, "--output", output, entry],
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) {
      throw new Error(`Cannot bundle ${specifier}: ${new TextDecoder().decode(stderr)}`);
    }
    // Comments with the paths of bundled files are those of this machine.
    const code = (await Deno.readTextFile(output)).replaceAll(/^\/\/ (\.\.\/|file:).*\n/gm, "");
    const notice =
      `/*! ${specifier} and its dependencies, under the MIT License of their authors. */\n`;
    return notice + compileModule("bundle.js", code, (specifier) => specifier);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
