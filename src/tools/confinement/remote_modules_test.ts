import { assertEquals } from "@std/assert";
import { findConfinement } from "./confinement.ts";

const root = new URL("../../../", import.meta.url);

/** Serves the modules of the project, as a registry of packages does. */
async function serveModule({ url }: Request): Promise<Response> {
  const path = new URL(url).pathname.slice(1);
  const text = await Deno.readTextFile(new URL(path, root));
  return new Response(text, { headers: { "content-type": "application/typescript" } });
}

Deno.test({
  name: "findConfinement(): finds the confinement when the library is loaded from a registry",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const cache = await Deno.makeTempDir({ prefix: "swink_cache_" });
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      serveModule,
    );
    const { hostname, port } = server.addr;
    const module = `http://${hostname}:${port}/src/tools/confinement/confinement.ts`;
    const script = `${cache}/find_confinement.ts`;
    await Deno.writeTextFile(
      script,
      `import { findConfinement } from "${module}";\nconsole.log(JSON.stringify(await findConfinement()));\n`,
    );
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "--no-check", "--allow-all", script],
      env: { DENO_DIR: cache },
      stderr: "null",
    }).output();
    await server.shutdown();
    await Deno.remove(cache, { recursive: true });
    assertEquals(JSON.parse(new TextDecoder().decode(stdout)), await findConfinement());
  },
});
