/**
 * The program as it is published: its bundle, run from a registry with an empty cache.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { buildPackageIfChanged, packageDirectory } from "../../scripts/jsr/build.ts";
import { findConfinement } from "../../src/tools/confinement/confinement.ts";
import { scriptedCall, scriptedReply } from "../cli/fake_host.ts";
import { startMockProvider } from "../cli/mock_provider.ts";
import { getBasicEnvironment } from "../cli/swink_process.ts";
import { createTemporaryDirectory } from "../cli/temporary_directory.ts";
import { type PackageRegistry, startPackageRegistry } from "./package_registry.ts";

await buildPackageIfChanged();

interface Invocation {
  readonly registry: PackageRegistry;
  readonly cwd: string;
  /** Directory of the cache of Deno. */
  readonly cache: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the program from the registry, successfully. */
async function runPublished(args: readonly string[], invocation: Invocation): Promise<string> {
  const { code, text } = await startPublished(args, invocation);
  assertEquals(code, 0, text);
  return text;
}

async function startPublished(
  args: readonly string[],
  { registry, cwd, cache, env = {} }: Invocation,
): Promise<{ readonly code: number; readonly text: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-lock", "jsr:@swink/agent/cli", ...args],
    cwd,
    env: { ...getBasicEnvironment(), JSR_URL: registry.url, DENO_DIR: cache, ...env },
    clearEnv: true,
    stdin: "null",
  }).output();
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  return { code, text };
}

Deno.test("published package: the program runs from a registry, from its bundle and in the sandbox", async () => {
  await using registry = await startPackageRegistry();
  await using directory = await createTemporaryDirectory({ "a.txt": "one\ntwo\n" });
  await using cache = await createTemporaryDirectory({});
  await using provider = startMockProvider(
    scriptedReply(
      scriptedCall("read_file", { path: "a.txt" }),
      scriptedCall("search_files", { pattern: "tw." }),
      scriptedCall("edit_file", {
        path: "a.txt",
        edits: [{ old_string: "two", new_string: "three" }],
      }),
      scriptedCall("bash", { command: "cat a.txt; touch ../outside_$$" }),
    ),
    scriptedReply("Done."),
  );
  const env = { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: provider.url };
  const text = await runPublished(["run", "--approve-all", "-v", "Change a.txt"], {
    registry,
    cwd: directory.path,
    cache: cache.path,
    env,
  });
  assertStringIncludes(text, "Done.");
  assertEquals(await Deno.readTextFile(`${directory.path}/a.txt`), "one\nthree\n");
  const confinement = await findConfinement();
  if (confinement.type === "linux") assertStringIncludes(text, "cannot touch");
  assert(registry.files.includes("cli/bundle/program.js"), registry.files.join("\n"));
  assertEquals(registry.files.filter((path) => path.startsWith("cli/") && isSource(path)), []);
});

Deno.test("published package: the program is complete when it is cached, and then needs no registry", async () => {
  await using directory = await createTemporaryDirectory({});
  await using cache = await createTemporaryDirectory({});
  const registry = await startPackageRegistry();
  const env = { JSR_URL: registry.url, DENO_DIR: cache.path };
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--quiet", "--no-lock", "jsr:@swink/agent/cli"],
    cwd: directory.path,
    env: { ...getBasicEnvironment(), ...env },
    clearEnv: true,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  await registry[Symbol.asyncDispose]();
  const isBundled = (path: string) => path.startsWith("cli/bundle/") && path.endsWith(".js");
  const names = await Array.fromAsync(Deno.readDir(new URL("cli/bundle/", packageDirectory)));
  const bundle = names.map(({ name }) => `cli/bundle/${name}`).filter(isBundled);
  assertEquals(registry.files.filter(isBundled).toSorted(), bundle.toSorted());
  assert(!registry.files.includes("cli/program.ts"));
  const models = await runPublished(["models", "sonnet"], {
    registry,
    cwd: directory.path,
    cache: cache.path,
  });
  assertStringIncludes(models, "anthropic/claude-sonnet");
});

/** Whether a file is a source of the program that the bundle has too: not the main module and its host. */
function isSource(path: string): boolean {
  return path.endsWith(".ts") && !/^cli\/(main|host\/\w+)\.ts$/.test(path);
}

Deno.test("published package: the program reports that it cannot be loaded when the registry cannot be reached", async () => {
  await using directory = await createTemporaryDirectory({});
  await using cache = await createTemporaryDirectory({});
  const registry = await startPackageRegistry();
  const invocation = { registry, cwd: directory.path, cache: cache.path };
  await runPublished(["--version"], invocation); // loads the main module only
  await registry[Symbol.asyncDispose]();
  const { code, text } = await startPublished(["models"], invocation);
  assertEquals(code, 3, text);
  assert(/^swink: The program could not be loaded: .*bundle\/program\.js/.test(text), text);
});

Deno.test("published package: the bundle has no paths of this machine, and the licenses of its packages", async () => {
  const bundle = new URL("cli/bundle/", packageDirectory);
  for await (const { name } of Deno.readDir(bundle)) {
    const code = await Deno.readTextFile(new URL(name, bundle));
    assert(!/\/deno\/npm\/|swink_bundle_|^\/\/ \.\.\//m.test(code), name);
  }
  const licenses = await Deno.readTextFile(new URL("LICENSES.txt", bundle));
  const inMarkdownIt = ["entities", "linkify-it", "mdurl", "punycode.js", "uc.micro"];
  const inlined = inMarkdownIt.map((name) => `${name}, in markdown-it`);
  for (const name of ["ajv", "re2js", "unbash", "smol-toml", ...inlined]) {
    assert(
      new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\n\\n.*(MIT|Copyright|BSD|License)`, "ms").test(
        licenses,
      ),
      name,
    );
  }
  assert(!licenses.includes("of its authors"), "a license without its text");
});
