import { assertEquals, assertStringIncludes } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { Agent } from "../../mod.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import {
  createScreenshots,
  createServer,
  listRejections,
  SIGNED,
  SUBJECTS,
} from "./rejecting_server.ts";
import { createReply, prompt } from "./rich_conversation.ts";

const IMAGE_ERRORS: readonly (readonly [model: string, message: string])[] = [
  [
    "anthropic",
    "messages.7.content.2.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
  ],
  [
    "anthropic",
    "messages.58.content.2.image.source.base64: image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes",
  ],
  ["anthropic", "Could not process image"],
  [
    "anthropic",
    "messages.11.content.8.image.source.base64.data: Image format image/png not supported",
  ],
  [
    "openai",
    "The image data you provided does not represent a valid image. Please check your input and try again",
  ],
  ["openai", "You uploaded an unsupported image. Please make sure your image is valid."],
  [
    "openai",
    "The image you provided requires 53800 patches after processing, exceeding the limit of 30000. Please resize the image and try again.",
  ],
  ["google", "Unable to process input image. Please retry or report."],
  ["google", "Provided image is not valid."],
  ["openai", "This model does not support image type image/x: unsupported image"],
  ["openai", "This model does not support image type image/x"],
  ["openai", "This model does not support images larger than 5 MB"],
  ["openai", "Animated GIF images are not supported"],
  ["google", 'Base64 decoding failed for "c2lnbmVk"'],
  ["openai", "Invalid base64 image_url."],
  [
    "openai",
    "Invalid 'input[4].output[1].image_url'. Expected a base64-encoded data URL with an image MIME type, but got unsupported MIME type 'image/x'.",
  ],
  ["anthropic", "messages.2.content.1.image.source.base64: invalid base64 data"],
];

for (const [provider, message] of IMAGE_ERRORS) {
  const subject = SUBJECTS.find(({ model }) => model.provider === provider);
  if (!subject) throw new Error("No subject");
  const { model, events, createStreamFn } = subject;
  const error = { error: { type: "invalid_request_error", message } };

  Deno.test(`${provider}: a request with an image is sent again without it after "${message}"`, async () => {
    const { bodies, fetch } = createServer({ error, events });
    const streamFn = createStreamFn(fetch);
    const request = createScreenshots(model, ["call1", "call2"]);
    const { content, warnings } = await readReply(streamFn(request));
    assertEquals(content, [{ type: "text", text: "Hi" }]);
    assertEquals(listRejections(warnings), ["images_left_out"]);
    assertEquals(bodies.map((body) => body.includes("Z29vZA==")), [true, true]);
    assertStringIncludes(bodies[1] ?? "", "(an image that the provider rejected");
    await readReply(streamFn(request));
    assertEquals(bodies.length, 3);
  });
}

/** Errors about the number of images, and the number of the newest ones that are sent again. */
const NUMBER_ERRORS: readonly (readonly [model: string, message: string, kept: number])[] = [
  [
    "anthropic",
    "messages.88.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    10,
  ],
  ["anthropic", "too many images and documents: 22 + 0 > 20", 10],
  ["anthropic", "Too much media: 0 document pages + 22 images > 20", 10],
  ["anthropic", "messages: too many images: image_count > 20", 10],
  ["openai", "Too many images in request. Max is 10.", 5],
  ["openai", "At most 1 image(s) may be provided in one request.", 1],
  ["openai", "request contains 22 images, exceeding the maximum of 15 allowed per request", 7],
  ["openai", "Too Many Images", 11],
];

for (const [provider, message, kept] of NUMBER_ERRORS) {
  const subject = SUBJECTS.find(({ model }) => model.provider === provider);
  if (!subject) throw new Error("No subject");
  const { model, events, createStreamFn } = subject;

  Deno.test(`${provider}: a request with too many images is sent again with the newest ones after "${message}"`, async () => {
    const server = createServer({ error: {}, events });
    const counts: number[] = [];
    const countImages = (body: string) => body.match(/"(?:input_)?image"/g)?.length ?? 0;
    const fetch: typeof globalThis.fetch = (url, init) => {
      const count = countImages(`${init?.body}`);
      counts.push(count);
      const error = { error: { type: "invalid_request_error", message } };
      if (count > 21) return Promise.resolve(Response.json(error, { status: 400 }));
      return server.fetch(url, init);
    };
    const streamFn = createStreamFn(fetch);
    const request = createScreenshots(
      model,
      Array.from({ length: 22 }, (_, index) => `call${index + 3}`),
    );
    const { messages } = request.context;
    const { stopReason, warnings } = await readReply(streamFn(request));
    assertEquals([stopReason, listRejections(warnings)], ["stop", ["images_left_out"]]);
    assertEquals(counts, [22, kept]);
    // The next request has one more, and is not rejected.
    const next = createScreenshots(model, ["call99"]).context.messages.slice(1);
    const context = { ...request.context, messages: [...messages, ...next] };
    assertEquals((await readReply(streamFn({ ...request, context }))).stopReason, "stop");
    assertEquals(counts, [22, kept, kept + 1]);
    assertStringIncludes(server.bodies.at(-1) ?? "", "(an image that the provider rejected");
  });
}

/** Errors about images that are no longer available. */
const LOST_IMAGES:
  readonly (readonly [provider: string, source: "url" | "provider_file", string])[] = [
    ["openai", "url", "Error while downloading https://files.example/1.png."],
    [
      "openai",
      "url",
      "image URLs are not currently supported, please use base64 encoded data instead",
    ],
    ["openai", "url", "'url' field must be a base64 encoded image."],
    ["openai", "url", "This model does not support image URLs"],
    ["anthropic", "url", "Unable to download the file. Please verify the URL and try again."],
    ["anthropic", "url", "This URL is disallowed by the website's robots.txt file."],
    [
      "anthropic",
      "url",
      "messages.0.content.0.image.source.url: Only HTTPS URLs are supported.",
    ],
    ["google", "url", "Cannot fetch content from the provided URL."],
    ["google", "url", "Invalid or unsupported file uri: https://files.example/1.png"],
    ["google", "url", "Received 404 status code when fetching image from URL"],
    ["openai", "url", "File could not be fetched from url 'https://files.example/1.png'"],
    ["openai", "provider_file", "No such File object: file-1"],
    ["openai", "provider_file", "File with id 'file-1' not found."],
    ["openai", "provider_file", "Files [file-1] were not found"],
    ["anthropic", "provider_file", "File not found: https://files.example/1.png"],
    [
      "google",
      "provider_file",
      "You do not have permission to access the File 1 or it may not exist.",
    ],
  ];

for (const [provider, type, message] of LOST_IMAGES) {
  Deno.test(`${provider}: a conversation goes on when an image is no longer available, as after "${message}"`, async () => {
    const subject = SUBJECTS.find(({ model }) => model.provider === provider);
    if (!subject) throw new Error("No subject");
    const id = "https://files.example/1.png";
    const bodies: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      bodies.push(`${init?.body}`);
      const error = { error: { type: "invalid_request_error", message } };
      if (bodies.at(-1)?.includes(id)) {
        const status = provider === "google" && type === "provider_file" ? 403 : 400;
        return Promise.resolve(Response.json(error, { status }));
      }
      return createServer(subject).fetch(input, init);
    };
    const request = createScreenshots(subject.model, ["call1"]);
    const source = type === "url" ? { type, url: id } : { type, provider, id };
    const image: ContentBlock = { type: "image", source };
    const messages = [{ ...prompt(""), content: [image] }, ...request.context.messages.slice(1)];
    const reply = await readReply(
      subject.createStreamFn(fetch)({ ...request, context: { ...request.context, messages } }),
    );
    assertEquals([reply.stopReason, listRejections(reply.warnings)], ["stop", ["images_left_out"]]);
    assertEquals(bodies.map((body) => body.includes("Z29vZA==")), [true, true]);
  });
}

Deno.test("anthropic: the images of one prompt are sent up to the number that the provider accepts, then none", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const counts: number[] = [];
  const messages = ["too many images and documents: 5 + 0 > 3", "Too much media: 900 images > 3"];
  const fetch: typeof globalThis.fetch = (url, init) => {
    counts.push(`${init?.body}`.match(/"image"/g)?.length ?? 0);
    const message = messages.shift();
    if (!message) return createServer({ error: {}, events: subject.events }).fetch(url, init);
    return Promise.resolve(Response.json({ error: { message } }, { status: 400 }));
  };
  const { context, ...request } = createScreenshots(subject.model, []);
  const source = { type: "base64", mediaType: "image/png", data: "Z29vZA==" } as const;
  const content = Array.from({ length: 5 }, () => ({ type: "image", source }) as const);
  const reply = await readReply(
    subject.createStreamFn(fetch)({
      ...request,
      context: { ...context, messages: [{ ...prompt(""), content }] },
    }),
  );
  assertEquals([reply.stopReason, counts], ["stop", [5, 3, 0]]);
});

for (
  const message of [
    "messages.9.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    "Too many images in request. Max is 20.",
  ]
) {
  Deno.test(`anthropic: documents are sent again after "${message}"`, async () => {
    const [, subject] = SUBJECTS;
    if (!subject) throw new Error("No subject");
    const counts: unknown[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      const body = `${init?.body}`;
      const count = body.match(/"image"/g)?.length ?? 0;
      counts.push([count, body.includes("JVBERi0=")]);
      if (count <= 20) return createServer(subject).fetch(url, init);
      return Promise.resolve(Response.json({ error: { message } }, { status: 400 }));
    };
    const ids = Array.from({ length: 22 }, (_, index) => `call${index + 3}`);
    const { context, ...request } = createScreenshots(subject.model, ids);
    const source = { type: "base64", data: "JVBERi0=" } as const;
    const content = [{ type: "document", source, mediaType: "application/pdf" }] as const;
    const messages = [{ ...prompt(""), content }, ...context.messages.slice(1)];
    const reply = await readReply(
      subject.createStreamFn(fetch)({ ...request, context: { ...context, messages } }),
    );
    assertEquals(listRejections(reply.warnings), ["images_left_out"]);
    assertEquals([reply.stopReason, counts], ["stop", [[22, true], [10, true]]]);
  });
}

Deno.test("anthropic: a new image is sent when the rejected one is of an earlier turn, as in a session that continues", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const error = { error: { message: "Could not process image" } };
  const { bodies, fetch } = createServer({ ...subject, error });
  const streamFn = subject.createStreamFn(fetch);
  const request = createScreenshots(subject.model, ["call1", "call2", "call3"]);
  const { stopReason, warnings } = await readReply(streamFn(request));
  assertEquals([stopReason, listRejections(warnings)], ["stop", ["images_left_out"]]);
  assertEquals(warnings.at(-1)?.message, "The provider rejected an image: 2 omitted");
  assertEquals(bodies.map((body) => body.split("Z29vZA==").length - 1), [2, 1, 1]);
  assertEquals(bodies.at(-1)?.includes(SIGNED), false);
  await readReply(streamFn(request));
  assertEquals(bodies.length, 4);
});

Deno.test("openai: an image that an error names is sent when it is not the rejected one", async () => {
  const [subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const error = { error: { message: "Invalid 'input[2].output[1].image_url'." } };
  const { bodies, fetch } = createServer({ ...subject, error });
  const request = createScreenshots(subject.model, ["call1", "call2"]);
  const { stopReason, warnings } = await readReply(subject.createStreamFn(fetch)(request));
  assertEquals([stopReason, listRejections(warnings)], ["stop", ["images_left_out"]]);
  assertEquals(bodies.map((body) => body.includes("Z29vZA==")), [true, false, true]);
});

Deno.test("anthropic: a request of which everything is rejected is sent a few times, and the last error is reported", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  let count = 0;
  const fetch: typeof globalThis.fetch = () => {
    const message = `Could not process image ${++count}`;
    return Promise.resolve(Response.json({ error: { message } }, { status: 400 }));
  };
  const request = createScreenshots(subject.model, ["call1", "call2", "call3"]);
  const { error, warnings } = await readReply(subject.createStreamFn(fetch)(request));
  assertEquals([count, listRejections(warnings)], [4, []]);
  assertStringIncludes(error?.message ?? "", "Could not process image 4");
});

Deno.test("anthropic: only the newest images are left out of a request of which thinking was left out before", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const bodies: string[] = [];
  const { model, events } = subject;
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = `${init?.body}`;
    bodies.push(body);
    const isThinking = body.includes("signature");
    const error = isThinking ? subject.error : { error: { message: "Could not process image" } };
    return createServer({ error, events }).fetch(url, init);
  };
  const { context, ...request } = createScreenshots(model, ["call1", "call2"]);
  const thinking = createReply(model, [subject.reasoning, { type: "text", text: "One." }]);
  const messages = [prompt("Hi."), thinking, ...context.messages];
  await readReply(subject.createStreamFn(fetch)({ ...request, context: { ...context, messages } }));
  assertEquals(bodies.map((body) => body.includes("Z29vZA==")), [true, true, true]);
});

Deno.test("anthropic: a request of which images and thinking are rejected is sent without both", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const bodies: string[] = [];
  const { model, events } = subject;
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = `${init?.body}`;
    bodies.push(body);
    const isRejected = body.includes(SIGNED) && !body.includes("signature");
    const error = isRejected ? { error: { message: "Could not process image" } } : subject.error;
    return createServer({ error, events }).fetch(url, init);
  };
  const { context, ...request } = createScreenshots(model, ["call2"]);
  const messages = [
    prompt("Hi."),
    createReply(model, [subject.reasoning, { type: "text", text: "One." }]),
    ...context.messages,
  ];
  const reply = await readReply(
    subject.createStreamFn(fetch)({ ...request, context: { ...context, messages } }),
  );
  assertEquals(listRejections(reply.warnings), ["thinking_left_out", "images_left_out"]);
  assertEquals([reply.stopReason, bodies.length], ["stop", 3]);
});

/** Errors of models that accept no images. */
const VISION_ERRORS: readonly (readonly [baseUrl: string, status: number, error: object])[] = [
  [
    "https://openrouter.ai/api/v1",
    404,
    { message: "No endpoints found that support image input", code: 404 },
  ],
  [
    "http://localhost:8080/v1",
    500,
    {
      code: 500,
      message:
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
      type: "server_error",
    },
  ],
  [
    "http://localhost:1234/v1",
    200,
    {
      message:
        "Error in iterating prediction stream: ValueError: Vision add-on is not loaded, but images were provided for processing",
    },
  ],
  ["http://localhost:8000/v1", 400, { message: "text-model is not a multimodal model" }],
  ["http://localhost:8000/v1", 400, { message: "At most 0 image(s) may be provided." }],
  [
    "https://api.groq.com/openai/v1",
    400,
    { message: "'messages.2' : for 'role:user' ('messages.2.content' : value must be a string)" },
  ],
  [
    "https://generativelanguage.googleapis.com/v1beta/openai",
    400,
    { message: "Image input modality is not enabled for models/gemma-3n-e4b-it" },
  ],
  [
    "http://localhost:4000/v1",
    400,
    { message: "Invalid content type. image_url is only supported by certain models." },
  ],
];

function listOmissions(warnings: readonly { code: string; message: string }[]): string[] {
  return warnings.filter(({ code }) => code === "images_left_out").map(({ message }) => message);
}

for (const [baseUrl, status, error] of VISION_ERRORS) {
  Deno.test(`createOpenAI(): a model that accepts no images gets none after ${JSON.stringify(error).slice(0, 70)}`, async () => {
    const bodies: { model: string; hasImage: boolean }[] = [];
    const fetch: typeof globalThis.fetch = (_url, init) => {
      const text = `${init?.body}`;
      const { model } = JSON.parse(text);
      const hasImage = text.includes("image_url");
      bodies.push({ model, hasImage });
      if (hasImage && model === "text") {
        return Promise.resolve(Response.json({ error }, { status }));
      }
      const chunk = { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] };
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(`data: ${JSON.stringify(chunk)}\n\n`, { headers }));
    };
    const streamFn = createOpenAI({ baseUrl, apiKey: "key", fetch });
    const request = createScreenshots(modelSpec("lab/text"), ["call1", "call2"]);
    const { stopReason, warnings } = await readReply(streamFn(request));
    assertEquals([stopReason, listRejections(warnings)], ["stop", ["images_left_out"]]);
    // Later requests for this model have no images, and those for another one have them.
    assertEquals(listOmissions((await readReply(streamFn(request))).warnings), []);
    await readReply(streamFn({ ...request, model: modelSpec("lab/vision") }));
    assertEquals(bodies, [
      { model: "text", hasImage: true },
      { model: "text", hasImage: false },
      { model: "text", hasImage: false },
      { model: "vision", hasImage: true },
    ]);
    // Each image of another conversation is reported once.
    const other = createScreenshots(request.model, ["call3"]);
    assertEquals(listOmissions((await readReply(streamFn(other))).warnings), [
      "The model does not accept images: 1 omitted",
    ]);
    assertEquals(listOmissions((await readReply(streamFn(other))).warnings), []);
  });
}

Deno.test("openai: an image that one model rejects is sent to another model", async () => {
  const [subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const error = { error: { message: "You uploaded an unsupported image." } };
  const server = createServer({ ...subject, error });
  const sent: unknown[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = `${init?.body}`;
    const { model } = JSON.parse(body);
    sent.push([model, body.includes(SIGNED)]);
    if (model === subject.model.modelId) return server.fetch(url, init);
    return createServer({ error, events: subject.events }).fetch(url, {
      ...init,
      body: body.replaceAll(SIGNED, ""),
    });
  };
  const streamFn = subject.createStreamFn(fetch);
  const request = createScreenshots(subject.model, ["call1", "call2"]);
  for (const model of [subject.model, modelSpec("openai/gpt-5.5"), subject.model]) {
    assertEquals((await readReply(streamFn({ ...request, model }))).stopReason, "stop");
  }
  assertEquals(sent, [
    ["gpt-5.4", true],
    ["gpt-5.4", false],
    ["gpt-5.5", true],
    ["gpt-5.4", false],
  ]);
});

Deno.test("Agent: a session with an image that is rejected fails no request after the first", async () => {
  const [, subject] = SUBJECTS;
  if (!subject) throw new Error("No subject");
  const error = { error: { message: "Could not process image" } };
  const { bodies, fetch } = createServer({ ...subject, error });
  const { model } = subject;
  const agent = new Agent({ model, streamFn: subject.createStreamFn(fetch) });
  const source = { type: "base64", mediaType: "image/png", data: SIGNED } as const;
  const images = [{ type: "image", source }] as const;
  for (const input of [{ text: "What is this?", images }, "Go on.", "And on."]) {
    assertEquals((await agent.prompt(input)).text, "Hi");
  }
  assertEquals(bodies.map((body) => body.includes(SIGNED)), [true, false, false, false]);
});

for (
  const message of [
    "messages.2.content.0.pdf.source.base64.data: The PDF specified was not valid.",
    "messages.2.content.1.document.source.base64.data: The PDF specified is password protected.",
    "A maximum of 100 PDF pages may be provided.",
    "The document contains 1200 pages which exceeds the supported page limit of 1000.",
    "This model doesn't support the document field for user messages. Remove document and try again.",
    "Invalid Value: 'file'. This model does not support file content types.",
  ]
) {
  Deno.test(`anthropic: a request is sent again without a document after "${message}"`, async () => {
    const [, subject] = SUBJECTS;
    if (!subject) throw new Error("No subject");
    const { bodies, fetch } = createServer({ ...subject, error: { error: { message } } });
    const request = createScreenshots(subject.model, ["call1"]);
    const source = { type: "base64", data: SIGNED } as const;
    const content = [{ type: "document", source, mediaType: "application/pdf" }] as const;
    const messages = [...request.context.messages, { ...prompt(""), content }];
    const reply = await readReply(
      subject.createStreamFn(fetch)({ ...request, context: { ...request.context, messages } }),
    );
    assertEquals(listRejections(reply.warnings), ["documents_left_out"]);
    assertEquals(bodies.map((body) => body.includes("Z29vZA==")), [true, true]);
    assertStringIncludes(bodies[1] ?? "", "(a document that the provider rejected");
  });
}
