/**
 * Installs Node 20, Node 24, Bun and workerd from npm in `dist/runtimes`, the packages that the built package depends on,
 * llama.cpp, and a client of the Agent Client Protocol, for the tests in `tests/runtimes` and `tests/cli`.
 *
 * @module
 */

const root = new URL("../", import.meta.url);

/** Packages that only tests on Deno use. */
const DENO_ONLY = ["@copilotkit/aimock", "typescript", "xmllint-wasm"];

/** llama.cpp without binaries for graphics processors, which have 600 MB. */
const LLAMA = ["--omit=optional", "node-llama-cpp@3.21.1", "@node-llama-cpp/linux-x64@3.21.1"];

async function listInstallations(): Promise<Record<string, string[]>> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { imports }: { imports: Record<string, string> } = JSON.parse(text);
  const packages = Object.entries(imports).flatMap(([name, specifier]) =>
    specifier.startsWith("npm:") && !DENO_ONLY.includes(name)
      ? [specifier.slice("npm:".length)]
      : []
  );
  return {
    node20: ["node@20"],
    node24: ["node@24"],
    bun: ["bun@1"],
    // With a validator of schemas that needs no `eval`.
    workerd: ["workerd@1", "@cfworker/json-schema@4"],
    // A client of the Agent Client Protocol, which needs Node 22 or later.
    acpx: ["acpx@0.19"],
    packages: [...packages, "@types/node@20"],
    ...(Deno.build.target === "x86_64-unknown-linux-gnu" && { llama: LLAMA }),
  };
}

async function install(name: string, packages: readonly string[]): Promise<void> {
  const directory = new URL(`dist/runtimes/${name}/`, root);
  await Deno.mkdir(directory, { recursive: true });
  const flags = ["--no-audit", "--no-fund", "--no-save", "--loglevel=error"];
  const { success, stdout, stderr } = await new Deno.Command("npm", {
    args: ["install", ...flags, "--prefix", ".", ...packages],
    cwd: directory,
    stdin: "null",
  }).output();
  if (success) return;
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  throw new Error(`Cannot install ${packages.join(", ")}: ${text}`);
}

if (import.meta.main) {
  const start = performance.now();
  const installations = Object.entries(await listInstallations());
  await Promise.all(installations.map(([name, packages]) => install(name, packages)));
  const seconds = ((performance.now() - start) / 1_000).toFixed(0);
  const names = installations.map(([name]) => name).join(", ");
  console.log(`Installed ${names} in dist/runtimes (${seconds} s)`);
}
