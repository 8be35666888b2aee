// A server of the Model Context Protocol over HTTP, as a function in place of `fetch`.

const results: Record<string, object> = {
  "initialize": {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "weather", version: "1.0.0" },
  },
  "tools/list": {
    tools: [{
      name: "forecast",
      description: "Returns the weather forecast of a city.",
      inputSchema: { type: "object", properties: { city: { type: "string" } } },
    }],
  },
  "tools/call": { content: [{ type: "text", text: "Sunny" }] },
};

/** Answers a request as the server does. */
export async function fetchForecast(
  input: RequestInfo | URL,
  init?: RequestInit,
): Promise<Response> {
  const request = new Request(input, init);
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const { id, method } = await request.json();
  if (id === undefined) return new Response(null, { status: 202 });
  const result = results[method];
  const error = { code: -32601, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
}
