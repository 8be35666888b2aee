// Retries a model call that fails, then calls another model. Only errors that may pass are retried.

import { Agent, exponentialBackoff } from "@swink/agent";
import { fail, reply, scriptedStream } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/large",
  retry: exponentialBackoff({ maxAttempts: 2, baseDelayMs: 1 }),
  fallback: ["example/small"],
  streamFn: scriptedStream([
    fail("model_throttled", "Too many requests", { after: "The ans" }),
    fail("network_error", "Connection reset"),
    reply("The answer is 42."),
    fail("auth_error", "The key is invalid"),
  ]),
});

agent.subscribe((event) => {
  if (event.type === "retry") console.log(`attempt ${event.attempt}: ${event.error.code}`);
  if (event.type === "model_fallback") console.log(`next model: ${event.to.modelId}`);
});

const { text, error } = await agent.prompt("What is the answer?");
console.log(text, error);

// A run that fails resolves with its error. After the cause is repaired, continue() tries again.
const failed = await agent.prompt("And the question?");
console.log(failed.error?.code, failed.error?.retryable);

// Prints:
// attempt 1: model_throttled
// next model: small
// The answer is 42. undefined
// auth_error false
