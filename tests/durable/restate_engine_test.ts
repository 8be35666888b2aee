import { RestateEngine } from "../../src/durable/restate/mod.ts";
import { testDurableEngine } from "../../src/testing/durable_conformance.ts";
import { RESTATE_PATH, startRestate } from "./restate_server.ts";

const restate = RESTATE_PATH === undefined ? undefined : await startRestate();
Deno.test.afterAll(() => restate?.stop());

testDurableEngine(
  (name, fn) => Deno.test({ name: `RestateEngine: ${name}`, ignore: !restate, fn }),
  () => {
    const { ingressUrl, adminUrl } = restate ?? { ingressUrl: "", adminUrl: "" };
    let engine: RestateEngine | undefined;
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => engine?.fetch(request) ?? new Response(null, { status: 503 }),
    );
    const endpointUrl = `http://127.0.0.1:${server.addr.port}`;
    return {
      createEngine: () =>
        engine = new RestateEngine({ ingressUrl, registration: { adminUrl, endpointUrl } }),
      createClient: () => {
        engine = undefined;
        return new RestateEngine({ ingressUrl });
      },
      dispose: () => server.shutdown(),
    };
  },
);
