import { assertEquals, assertStringIncludes } from "@std/assert";

const source = "export const one = 1;";
const checksum = "sha256-ccb80467326f16feee59c290e0c9e1f291973ee1ea34c13090ca7dd23a7cac76";

/** A registry that knows one package. */
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
  /** Runs the tool as a task does. */
  choosePackages(
    env?: Record<string, string>,
  ): Promise<{ code: number; config: string; said: string }>;
}

async function makeProject(imports: Record<string, string>): Promise<Project> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink packages " }));
  await Deno.mkdir(`${folder}/scripts`);
  await Deno.mkdir(`${folder}/scripts/offline/std_assert`, { recursive: true });
  await Deno.copyFile(new URL("packages.ts", import.meta.url), `${folder}/scripts/packages.ts`);
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ imports }));
  return {
    directory: folder,
    async choosePackages(env = {}) {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "scripts/packages.ts"],
        cwd: folder,
        env: {
          SWINK_PACKAGES: "",
          DENO_DIR: `${folder}/cache`,
          JSR_URL: unreachableRegistry,
          ...env,
        },
      }).output();
      const [config, said] = [stdout, stderr].map((bytes) =>
        new TextDecoder().decode(bytes).trim()
      );
      return { code, config: config ?? "", said: said ?? "" };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const unreachableRegistry = "http://127.0.0.1:9/";
const imports = { "@std/assert": "jsr:@std/assert@^1.0.19" };

Deno.test("without a registry the offline set is taken, and the answer kept", async () => {
  await using project = await makeProject(imports);
  const { config, said } = await project.choosePackages();
  assertEquals(config, `${project.directory}/deno.offline.json`);
  assertEquals(said, "packages: offline, over npm (JSR registry not reached)");
  assertEquals((await project.choosePackages()).said, "packages: offline, over npm (as before)");
});

Deno.test("the offline configuration is deno.json, the links and a lock file of its own", async () => {
  await using project = await makeProject(imports);
  const { config } = await project.choosePackages({ SWINK_PACKAGES: "offline" });
  assertEquals(JSON.parse(await Deno.readTextFile(config)), {
    imports,
    publish: { include: ["scripts/offline"] },
    links: ["./scripts/offline/std_assert"],
    lock: "./deno.offline.lock",
  });
});

Deno.test("with a registry JSR's packages are taken, until their cache is gone", async () => {
  await using project = await makeProject(imports);
  await using registry = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      const text = registryFiles[new URL(request.url).pathname];
      return text ? new Response(text) : new Response(null, { status: 404 });
    },
  );
  const env = { JSR_URL: `http://127.0.0.1:${registry.addr.port}/` };

  const { config, said } = await project.choosePackages(env);
  assertEquals(config, `${project.directory}/deno.json`);
  assertEquals(said, "packages: JSR (in reach)");
  assertEquals((await project.choosePackages(env)).said, "packages: JSR (as before)");

  await registry.shutdown();
  await Deno.remove(`${project.directory}/.packages.json`);
  assertEquals((await project.choosePackages(env)).said, "packages: JSR (in reach)");
  await Deno.remove(`${project.directory}/cache`, { recursive: true });
  assertEquals(
    (await project.choosePackages(env)).said,
    "packages: offline, over npm (JSR registry not reached)",
  );
});

Deno.test("another package asks the registry again", async () => {
  await using project = await makeProject(imports);
  await project.choosePackages();
  const more = { ...imports, "@std/cli": "jsr:@std/cli@^1.0.32" };
  await Deno.writeTextFile(`${project.directory}/deno.json`, JSON.stringify({ imports: more }));
  assertStringIncludes((await project.choosePackages()).said, "not reached");
});

Deno.test("SWINK_PACKAGES forces a set, and a wrong one is an error that says so", async () => {
  await using project = await makeProject(imports);
  const { config, said } = await project.choosePackages({ SWINK_PACKAGES: "jsr" });
  assertEquals(config, `${project.directory}/deno.json`);
  assertEquals(said, "packages: JSR (SWINK_PACKAGES)");

  const wrong = await project.choosePackages({ SWINK_PACKAGES: "npm" });
  assertEquals(wrong.code, 2);
  assertEquals(wrong.config, "");
  assertStringIncludes(wrong.said, `SWINK_PACKAGES is "npm"; set it to "jsr" or "offline"`);
});
