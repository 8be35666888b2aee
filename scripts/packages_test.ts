import { assertEquals, assertStringIncludes } from "@std/assert";
import { createDeadline } from "../tests/deadline.ts";

const source = "export const one = 1;";
const checksum = "sha256-ccb80467326f16feee59c290e0c9e1f291973ee1ea34c13090ca7dd23a7cac76";

/** Files of a registry with one package. */
const registryFiles: Record<string, string> = {
  "/@std/assert/meta.json": JSON.stringify({ latest: "1.0.19", versions: { "1.0.19": {} } }),
  "/@std/assert/1.0.19_meta.json": JSON.stringify({
    exports: { ".": "./mod.ts" },
    manifest: { "/mod.ts": { size: source.length, checksum } },
  }),
  "/@std/assert/1.0.19/mod.ts": source,
};

interface Project extends AsyncDisposable {
  directory: string;
  /** Runs the script as a task does. */
  choosePackages(
    env?: Record<string, string>,
  ): Promise<{ code: number; config: string; message: string }>;
  /** Removes the saved choice. */
  forgetChoice(): Promise<void>;
}

async function createProject(imports: Record<string, string>): Promise<Project> {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink packages " }));
  await Deno.mkdir(`${directory}/scripts`);
  await Deno.mkdir(`${directory}/scripts/offline/std_assert`, { recursive: true });
  await Deno.copyFile(new URL("packages.ts", import.meta.url), `${directory}/scripts/packages.ts`);
  await Deno.writeTextFile(`${directory}/deno.json`, JSON.stringify({ imports }));
  return {
    directory,
    async choosePackages(env = {}) {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "scripts/packages.ts"],
        cwd: directory,
        env: {
          SWINK_PACKAGES: "",
          DENO_DIR: `${directory}/cache`,
          JSR_URL: unreachableRegistry,
          ...env,
        },
        signal: createDeadline(),
      }).output();
      const [config, message] = [stdout, stderr].map((bytes) =>
        new TextDecoder().decode(bytes).trim()
      );
      return { code, config: config ?? "", message: message ?? "" };
    },
    forgetChoice: () => Deno.remove(`${directory}/.packages.json`),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

const unreachableRegistry = "http://127.0.0.1:9/";
const imports = { "@std/assert": "jsr:@std/assert@^1.0.19" };

Deno.test("packages: selects the offline set without a registry, and caches the choice", async () => {
  await using project = await createProject(imports);
  const { config, message } = await project.choosePackages();
  assertEquals(config, `${project.directory}/deno.offline.json`);
  assertEquals(message, "packages: offline, from npm (JSR registry not reached)");
  assertEquals(
    (await project.choosePackages()).message,
    "packages: offline, from npm (cached choice)",
  );
});

Deno.test("packages: deno.offline.json is deno.json with links and its own lock file", async () => {
  await using project = await createProject(imports);
  const { config } = await project.choosePackages({ SWINK_PACKAGES: "offline" });
  assertEquals(JSON.parse(await Deno.readTextFile(config)), {
    imports,
    publish: { include: ["scripts/offline"] },
    links: ["./scripts/offline/std_assert"],
    lock: "./deno.offline.lock",
  });
});

Deno.test("packages: selects JSR's packages with a registry, until their cache is removed", async () => {
  await using project = await createProject(imports);
  await using registry = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {}, signal: createDeadline() },
    (request) => {
      const text = registryFiles[new URL(request.url).pathname];
      return text ? new Response(text) : new Response(null, { status: 404 });
    },
  );
  const env = { JSR_URL: `http://127.0.0.1:${registry.addr.port}/` };

  const { config, message } = await chooseWithRegistry(project, env);
  assertEquals(config, `${project.directory}/deno.json`);
  assertEquals(message, "packages: JSR (JSR registry reached)");
  assertEquals((await project.choosePackages(env)).message, "packages: JSR (cached choice)");

  await registry.shutdown();
  await project.forgetChoice();
  const fromCache = await chooseWithRegistry(project, env);
  assertEquals(fromCache.message, "packages: JSR (JSR registry reached)");
  await Deno.remove(`${project.directory}/cache`, { recursive: true });
  assertEquals(
    (await project.choosePackages(env)).message,
    "packages: offline, from npm (JSR registry not reached)",
  );
});

/** Repeats a choice that took longer than the timeout of the request, as it may on a busy machine. */
async function chooseWithRegistry(
  project: Project,
  env: Record<string, string>,
): ReturnType<Project["choosePackages"]> {
  for (let attempt = 1; attempt < 10; attempt++) {
    const choice = await project.choosePackages(env);
    if (!choice.message.includes("not reached")) return choice;
    await project.forgetChoice();
  }
  return await project.choosePackages(env);
}

Deno.test("packages: requests the registry again when a package is added", async () => {
  await using project = await createProject(imports);
  await project.choosePackages();
  const otherImports = { ...imports, "@std/cli": "jsr:@std/cli@^1.0.32" };
  await Deno.writeTextFile(
    `${project.directory}/deno.json`,
    JSON.stringify({ imports: otherImports }),
  );
  assertStringIncludes((await project.choosePackages()).message, "not reached");
});

Deno.test("packages: SWINK_PACKAGES forces a set, and an invalid value is an error", async () => {
  await using project = await createProject(imports);
  const { config, message } = await project.choosePackages({ SWINK_PACKAGES: "jsr" });
  assertEquals(config, `${project.directory}/deno.json`);
  assertEquals(message, "packages: JSR (SWINK_PACKAGES)");

  const invalid = await project.choosePackages({ SWINK_PACKAGES: "npm" });
  assertEquals(invalid.code, 2);
  assertEquals(invalid.config, "");
  assertStringIncludes(invalid.message, `SWINK_PACKAGES is "npm"; set it to "jsr" or "offline"`);
});
