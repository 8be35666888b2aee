import { assert, assertEquals } from "@std/assert";
import { findConfinement } from "./confinement.ts";

const root = new URL("../../../", import.meta.url);

/** Serves the modules of the project, as a registry of packages does. */
async function serveModule({ url }: Request): Promise<Response> {
  const path = new URL(url).pathname.slice(1);
  const text = await Deno.readTextFile(new URL(path, root));
  return new Response(text, { headers: { "content-type": "application/typescript" } });
}

/** Runs a script in a directory of its own, with an empty cache. `$MODULES` in it is the URL of the modules of the project. */
async function runWithRemoteModules(
  script: string,
  flags: readonly string[] = [],
): Promise<unknown> {
  const directory = await Deno.makeTempDir({ prefix: "swink_remote_" });
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    serveModule,
  );
  const { hostname, port } = server.addr;
  const code = script.replaceAll("$MODULES", `http://${hostname}:${port}/src`);
  await Deno.writeTextFile(`${directory}/main.ts`, code);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-lock", "--no-check", "--allow-all", ...flags, "main.ts"],
    cwd: directory,
    env: { DENO_DIR: `${directory}/cache` },
  }).output();
  await Deno.remove(directory, { recursive: true });
  const [text, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert(text, errors);
  return JSON.parse(text);
}

const FIND_CONFINEMENT = `
import { findConfinement } from "$MODULES/tools/confinement/confinement.ts";
console.log(JSON.stringify(await findConfinement()));
`;

Deno.test({
  name: "findConfinement(): finds the confinement when the library is loaded from a registry",
  ignore: Deno.build.os !== "linux",
  async fn() {
    assertEquals(await runWithRemoteModules(FIND_CONFINEMENT), await findConfinement());
  },
});

Deno.test({
  name:
    "findConfinement(): finds the confinement when a project has a directory of its own for remote modules",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const found = await runWithRemoteModules(FIND_CONFINEMENT, ["--vendor"]);
    assertEquals(found, await findConfinement());
  },
});

Deno.test("isolatedTool(): runs a tool when the library is loaded from another registry than JSR", async () => {
  const script = `
import { isolatedTool } from "$MODULES/tools/isolated/isolated_tool.ts";
const tool = "export default { name: 'greet', description: 'Greets', parameters: {}, execute() {} };";
const { name } = await isolatedTool({ module: new URL("data:text/javascript," + tool) });
console.log(JSON.stringify(name));
`;
  assertEquals(await runWithRemoteModules(script), "greet");
});
