import { testStreamFn } from "../../../src/testing/stream_conformance.ts";
import { createAcme } from "./acme.ts";

testStreamFn(Deno.test, "acme", (fetch, limits) => createAcme({ fetch, ...limits }), {
  model: { provider: "acme", modelId: "acme-1", thinkingLevel: "off" },
  replies: [
    {
      name: "text and a call",
      body: [
        'data: {"say":"Let me "}',
        'data: {"say":"look."}',
        'data: {"call":{"id":"1","name":"read_file","args":{"path":"ü"}}}',
        'data: {"end":"done","read":3,"wrote":5}',
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
      name: "an error in the middle",
      body: 'data: {"say":"Let me"}\n\ndata: {"error":{"code":"acme_is_full"}}\n\n',
      expect: { text: "Let me", errorCode: "network_error" },
    },
  ],
  errors: [
    {
      name: "a trial that has ended",
      status: 400,
      body: '{"error":{"message":"Your trial has ended."}}',
      expect: { code: "model_throttled", retryable: false },
    },
  ],
});
