import { assertEquals } from "@std/assert";
import { createOllama } from "../../adapters/ollama/mod.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import {
  createScreenshots,
  createServer,
  SIGNED,
  type Subject,
  SUBJECTS,
} from "./rejecting_server.ts";
import { prompt } from "./rich_conversation.ts";

function findSubject(provider: string): Subject {
  const subject = SUBJECTS.find(({ model }) => model.provider === provider);
  if (!subject) throw new Error("No subject");
  return subject;
}

/** Creates a request with a prompt of some blocks. */
function createPrompt(
  { model }: Pick<Subject, "model">,
  content: readonly ContentBlock[],
): StreamRequest {
  const { context, ...request } = createScreenshots(model, []);
  return { ...request, context: { ...context, messages: [{ ...prompt(""), content }] } };
}

const REJECTED = { type: "base64", data: SIGNED } as const;
const ACCEPTED = { type: "base64", data: "Z29vZA==" } as const;

for (
  const [status, message] of [
    [400, "Audio input modality is not enabled for this model"],
    [400, "Invalid audio"],
    [404, "No endpoints found that support input audio"],
    [500, "audio input is not supported - hint: you may need to provide the mmproj"],
  ] as const
) {
  Deno.test(`google: a request is sent again without audio after ${status} "${message}"`, async () => {
    const subject = findSubject("google");
    const { bodies, fetch } = createServer({ ...subject, error: { error: { message } }, status });
    const request = createPrompt(subject, [
      { type: "audio", mediaType: "audio/wav", source: REJECTED },
      { type: "document", mediaType: "application/pdf", source: ACCEPTED },
    ]);
    const { stopReason, warnings } = await readReply(subject.createStreamFn(fetch)(request));
    assertEquals(stopReason, "stop");
    assertEquals(warnings.map(({ code, message }) => [code, message]), [
      ["audio_left_out", "The provider rejected an audio clip: 1 omitted"],
    ]);
    assertEquals(bodies.map((body) => body.includes(ACCEPTED.data)), [true, true]);
  });
}

for (
  const message of [
    "Unsupported MIME type: application/rtf",
    "Unable to submit request because it has a mimeType parameter with value application/rtf, which is not supported. Update the mimeType and try again.",
    "Expected a file with an application/pdf MIME type, but got unsupported MIME type 'application/rtf'.",
  ]
) {
  Deno.test(`google: a request is sent again without documents of a type after "${message}"`, async () => {
    const subject = findSubject("google");
    const { bodies, fetch } = createServer({ ...subject, error: { error: { message } } });
    const request = createPrompt(subject, [
      { type: "document", mediaType: "application/rtf", source: REJECTED },
      { type: "document", mediaType: "application/pdf", source: ACCEPTED },
    ]);
    const { stopReason, warnings } = await readReply(subject.createStreamFn(fetch)(request));
    assertEquals([stopReason, warnings.map(({ code }) => code)], ["stop", ["documents_left_out"]]);
    assertEquals(bodies.map((body) => body.includes(ACCEPTED.data)), [true, true]);
  });
}

Deno.test("openai: only the images whose URLs the errors contain are left out", async () => {
  const subject = findSubject("openai");
  const urls = [1, 2, 3, 4].map((number) => `https://files.example/${number}.png`);
  const bodies: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const body = `${init?.body}`;
    bodies.push(body);
    const lost = [urls[0], urls[2]].find((url) => body.includes(`${url}`));
    if (lost === undefined) return createServer(subject).fetch(input, init);
    const error = { message: `Error while downloading ${lost}. Upstream status code: 404.` };
    return Promise.resolve(Response.json({ error }, { status: 400 }));
  };
  const images = urls.map((url): ContentBlock => ({ type: "image", source: { type: "url", url } }));
  const request = createPrompt(subject, images);
  const { stopReason, warnings } = await readReply(subject.createStreamFn(fetch)(request));
  assertEquals([stopReason, warnings.at(-1)?.message], [
    "stop",
    "The provider rejected an image: 2 omitted",
  ]);
  assertEquals(
    bodies.map((body) => urls.map((url) => body.includes(url))),
    [[true, true, true, true], [false, true, true, true], [false, true, false, true]],
  );
});

Deno.test("openai: a request with many lost images is sent again a few times", async () => {
  const subject = findSubject("openai");
  const urls = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `https://files.example/${number}.png`);
  let count = 0;
  const fetch: typeof globalThis.fetch = (input, init) => {
    const lost = urls.find((url) => `${init?.body}`.includes(url));
    if (lost === undefined) return createServer(subject).fetch(input, init);
    count++;
    const error = { message: `Error while downloading ${lost}. Upstream status code: 404.` };
    return Promise.resolve(Response.json({ error }, { status: 400 }));
  };
  const images = urls.map((url): ContentBlock => ({ type: "image", source: { type: "url", url } }));
  const request = createPrompt(subject, images);
  const { stopReason, warnings } = await readReply(subject.createStreamFn(fetch)(request));
  assertEquals([stopReason, count, warnings.at(-1)?.message], [
    "stop",
    4,
    "The provider rejected an image: 8 omitted",
  ]);
});

/** Errors with the path of the second of three images. */
const PATH_ERRORS: readonly (readonly [provider: string, message: string])[] = [
  ["anthropic", "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"],
  ["anthropic", "messages.0.content.1.image.source.base64.data: Could not process image"],
  ["openai", "Invalid 'input[0].content[1].image_url'. Expected a base64-encoded data URL"],
];

for (const [provider, message] of PATH_ERRORS) {
  Deno.test(`${provider}: only the image whose path the error contains is left out, as after "${message}"`, async () => {
    const subject = findSubject(provider);
    const error = { error: { type: "invalid_request_error", message } };
    const { bodies, fetch } = createServer({ ...subject, error });
    const images = ["Zmlyc3Q=", SIGNED, "dGhpcmQ="].map((data): ContentBlock => ({
      type: "image",
      source: { type: "base64", mediaType: "image/png", data },
    }));
    const request = createPrompt(subject, images);
    const { stopReason, warnings } = await readReply(subject.createStreamFn(fetch)(request));
    assertEquals([stopReason, warnings.at(-1)?.message], [
      "stop",
      "The provider rejected an image: 1 omitted",
    ]);
    assertEquals(bodies.length, 2);
    assertEquals(["Zmlyc3Q=", "dGhpcmQ="].filter((data) => !bodies[1]?.includes(data)), []);
  });
}

/** Errors of Ollama, and the data of the images that are sent again. */
const OLLAMA_ERRORS: readonly (readonly [status: number, message: string])[] = [
  [400, "Failed to load image or audio file"],
  [500, "Failed to load image or audio file"],
  [500, "Failed to create new sequence: failed to process inputs: image: unknown format"],
  [500, "this model only supports one image while more than one image requested"],
];

for (const [status, error] of OLLAMA_ERRORS) {
  Deno.test(`ollama: a request is sent again without an image after ${status} "${error}"`, async () => {
    const bodies: string[] = [];
    const fetch: typeof globalThis.fetch = (_url, init) => {
      const body = `${init?.body}`;
      bodies.push(body);
      if (body.includes(SIGNED)) return Promise.resolve(Response.json({ error }, { status }));
      const line = { message: { content: "Hi" }, done: true, done_reason: "stop" };
      return Promise.resolve(new Response(JSON.stringify(line)));
    };
    const streamFn = createOllama({ fetch });
    const model = modelSpec("ollama/gemma4");
    const create = (data: string): ContentBlock => ({
      type: "image",
      source: { type: "base64", mediaType: "image/gif", data },
    });
    const { context, ...request } = createPrompt({ model }, [create(SIGNED)]);
    const [first] = context.messages;
    if (!first) throw new Error("No prompt");
    const isNumber = error.includes("only supports one");
    const messages = isNumber ? [first, { ...prompt(""), content: [create("Z29vZA==")] }] : [first];
    const reply = await readReply(streamFn({ ...request, context: { ...context, messages } }));
    assertEquals([reply.stopReason, bodies.length], ["stop", 2]);
    assertEquals(reply.warnings.map(({ code }) => code), ["images_left_out"]);
    assertEquals(bodies.at(-1)?.includes("Z29vZA=="), isNumber);
  });
}
