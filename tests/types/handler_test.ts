/**
 * Type tests: the assertions are made by the type checker, which `deno test` runs before the tests.
 *
 * @module
 */

import { serveProxy } from "../../adapters/proxy/mod.ts";
import { Agent } from "../../mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { createAgentServer } from "../../src/server/mod.ts";
import { scriptedStream } from "../../src/testing/mod.ts";

/** The second argument of `@hono/node-server`, whose types have none of `Deno.serve()`. */
interface NodeBindings {
  readonly incoming: object;
  readonly outgoing: object;
}

/** A handler as servers of other runtimes take it; the second argument differs between them. */
type Handler<Second> = (request: Request, second: Second) => Response | Promise<Response>;

/** Compiles only if servers of Node, Deno and workers accept the handler as it is. */
function acceptHandler(
  _node: Handler<NodeBindings>,
  _deno: Handler<Deno.ServeHandlerInfo>,
  _worker: (request: Request) => Promise<Response>,
): void {}

Deno.test("createAgentServer(): servers of other runtimes accept the handler, whatever their second argument is", async () => {
  const agents = createAgentServer({
    store: new InMemorySessionStore(),
    createAgent: () => new Agent({ model: "any/model", streamFn: scriptedStream([]) }),
  });
  acceptHandler(agents.fetch, agents.fetch, agents.fetch);
  await agents.close();
});

Deno.test("serveProxy(): servers of other runtimes accept the handler, whatever their second argument is", () => {
  const handler = serveProxy(scriptedStream([]));
  acceptHandler(handler, handler, handler);
});
