import { testStreamFn } from "@swink/agent/testing";
import { createAcme } from "./acme.ts";

testStreamFn(Deno.test, "acme", (fetch, limits) => createAcme({ fetch, ...limits }), {
  model: { provider: "acme", modelId: "acme-1", thinkingLevel: "off" },
  replies: [
    {
      name: "text and a tool call",
      body: [
        'data: {"text":"Let me "}',
        'data: {"text":"look."}',
        'data: {"call":{"id":"1","name":"read_file","args":{"path":"ü"}}}',
        'data: {"end":"done","input":3,"output":5}',
        "",
      ].join("\n\n"),
      expect: {
        text: "Let me look.",
        calls: [{ name: "read_file", arguments: { path: "ü" } }],
        stopReason: "tool_use",
        usage: { input: 3, output: 5, total: 8 },
      },
    },
    {
      name: "an error within the stream",
      body: 'data: {"text":"Let me"}\n\ndata: {"error":{"code":"acme_overloaded"}}\n\n',
      expect: { text: "Let me", errorCode: "network_error" },
    },
  ],
  errors: [
    {
      name: "an expired trial",
      status: 400,
      body: '{"error":{"message":"Your trial has ended."}}',
      expect: { code: "model_throttled", retryable: false },
    },
  ],
});
