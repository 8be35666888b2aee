/**
 * The contract of stream functions: the model is the content of the response, which is downloaded for the first request.
 */

import { createLocal } from "../../src/local/mod.ts";
import { testStreamFn } from "../../src/testing/mod.ts";
import { countTokens } from "./counting_llama.ts";
import { toSha256 } from "./hub_server.ts";
import { untilThreadsAreFree } from "./local_fixture.ts";
import { createTinyModel } from "./tiny_model.ts";
import { llama, SCRIPTS } from "./tiny_models.ts";

/** Begins every reply with one of the scripts. */
function createModel(script: string): Uint8Array<ArrayBuffer> {
  const chatTemplate = `{% for message in messages %}{{ message.content }}
{% endfor %}{% if add_generation_prompt %}<|${script}|>{% endif %}`;
  return createTinyModel({ scripts: SCRIPTS, chatTemplate });
}

if (llama) {
  const models = { hello: createModel("hello"), think: createModel("think") };
  const counts = countTokens(llama);

  const register = (name: string, test: () => void | Promise<void>) =>
    Deno.test(name, async () => {
      const directory = await Deno.makeTempDir();
      directories.push(directory);
      try {
        await test();
      } finally {
        await Promise.all(streamFns.splice(0).map((streamFn) => streamFn.unload()));
        await untilThreadsAreFree();
        await Deno.remove(directory, { recursive: true });
      }
    });
  const directories: string[] = [];
  const streamFns: ReturnType<typeof createLocal>[] = [];

  for (const [name, body] of Object.entries(models)) {
    const sha256 = await toSha256(body);
    let number = 0;
    testStreamFn(register, `local ${name}`, (fetch, limits) => {
      const streamFn = createLocal({
        model: {
          name: "tiny",
          path: `${directories.at(-1)}/${number++}.gguf`,
          source: { repository: "a/b", file: "c.gguf", size: body.length, sha256 },
        },
        fetch,
        env: () => undefined,
        llama: counts.package,
        gpu: false,
        threads: 1,
        contextSize: 512,
        idleMs: Infinity,
        // A reader that waits for the first token of an incomplete model gets an error in time.
        idleTimeoutMs: 1_500,
        // A download is continued whose connection was lost.
        sleep: () => Promise.resolve(),
        ...limits,
      });
      streamFns.push(streamFn);
      return streamFn;
    }, {
      model: { provider: "local", modelId: "tiny", thinkingLevel: "off" },
      replies: [{
        name: `the model ${name}`,
        body,
        expect: name === "hello"
          ? {
            text: "Hello world, dear user",
            thinking: "",
            stopReason: "stop",
            usage: { output: 5, cacheRead: 0 },
          }
          : { text: "Done it", thinking: "Hmm, let me see\n", stopReason: "stop" },
      }],
      errors: [
        {
          name: "a model that is not there",
          status: 404,
          body: "Entry not found",
          expect: { code: "model_not_found", retryable: false },
        },
        {
          name: "a model with a license",
          status: 401,
          body: '{"error":"Access to this model is restricted"}',
          expect: { code: "auth_error", retryable: false },
        },
        {
          name: "a hub that is overloaded",
          status: 503,
          body: "",
          expect: { code: "network_error", retryable: true },
        },
      ],
    });
  }
} else {
  Deno.test({ name: "local: passes the tests of stream functions", ignore: true, fn() {} });
}
