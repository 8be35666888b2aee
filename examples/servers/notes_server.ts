// A server of the Model Context Protocol that keeps notes in memory, without a library: one JSON-RPC message per line of its
// standard streams.

const notes: string[] = [];

const handlers: Record<string, (params: Record<string, unknown>) => unknown> = {
  "initialize": () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: "notes", version: "1.0.0" },
  }),
  "tools/list": () => ({
    tools: [{
      name: "add_note",
      description: "Adds a note, and returns its number.",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      },
    }],
  }),
  "tools/call": ({ arguments: args }) => {
    notes.push((args as { text: string }).text);
    return { content: [{ type: "text", text: `Note ${notes.length}` }] };
  },
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "notes://{number}", name: "A note" }],
  }),
  "resources/read": ({ uri }) => {
    const number = Number(new URL(String(uri)).host);
    return { contents: [{ uri, mimeType: "text/plain", text: notes[number - 1] ?? "" }] };
  },
};

let pending = "";
for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (pending + chunk).split("\n");
  pending = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) continue; // A notification has no answer.
    const handler = handlers[method];
    const answer = handler
      ? { result: handler(params) }
      : { error: { code: -32601, message: "Method not found" } };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  }
}
