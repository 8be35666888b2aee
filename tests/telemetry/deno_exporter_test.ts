import { assert, assertEquals } from "@std/assert";
import { runDeno } from "../project.ts";

interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${
    JSON.stringify({ id: "r", model: "gpt", choices: [{ index: 0, delta, finish_reason }] })
  }\n\n`;
const CALL = chunk({
  tool_calls: [{
    index: 0,
    id: "c",
    type: "function",
    function: { name: "read_page", arguments: "{}" },
  }],
}) + chunk({}, "tool_calls") + "data: [DONE]\n\n";
const ANSWER = chunk({ content: "Done" }) + chunk({}, "stop") + "data: [DONE]\n\n";

/** A model, a page and a collector of the protocol OTLP in one server. */
function serve(): {
  readonly server: Deno.HttpServer<Deno.NetAddr>;
  readonly spans: ExportedSpan[];
  readonly parents: Map<string, string>;
} {
  const spans: ExportedSpan[] = [];
  const parents = new Map<string, string>();
  let requests = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const traceparent = request.headers.get("traceparent");
    if (traceparent) parents.set(pathname, traceparent);
    if (pathname === "/v1/traces") {
      const { resourceSpans } = await request.json();
      for (const { scopeSpans } of resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      return Response.json({});
    }
    if (pathname !== "/v1/chat/completions") {
      await request.body?.cancel();
      return new Response("page");
    }
    await request.body?.cancel();
    const headers = { "content-type": "text/event-stream" };
    return new Response(requests++ === 0 ? CALL : ANSWER, { headers });
  });
  return { server, spans, parents };
}

Deno.test("telemetry(): Deno exports the spans to a collector, and its own spans of fetch are their children", async () => {
  const { server, spans, parents } = serve();
  await using _server = { [Symbol.asyncDispose]: () => server.shutdown() };
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const program = "tests/telemetry/traced_program.ts";
  const { success, text } = await runDeno("run", [
    "-A",
    "-q",
    program,
    `${origin}/v1`,
    `${origin}/page`,
  ], {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  });
  assert(success, text);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const toPath = ({ name, parentSpanId }: ExportedSpan): string => {
    const parent = byId.get(parentSpanId ?? "");
    return parent ? `${name} < ${toPath(parent)}` : name;
  };
  assertEquals(spans.map(toPath).filter((path) => path.includes("invoke_agent")).toSorted(), [
    "GET < execute_tool read_page < invoke_agent helper",
    "POST < chat gpt < invoke_agent helper",
    "POST < chat gpt < invoke_agent helper",
    "chat gpt < invoke_agent helper",
    "chat gpt < invoke_agent helper",
    "execute_tool read_page < invoke_agent helper",
    "invoke_agent helper",
  ]);
  const trace = spans.find(({ name }) => name === "invoke_agent helper")?.traceId;
  for (const path of ["/page", "/v1/chat/completions"]) {
    assertEquals(parents.get(path)?.split("-")[1], trace);
  }
});
