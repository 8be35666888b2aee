import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createTinyModel } from "../../../tests/local/tiny_model.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { checkDimensions } from "./check_dimensions.ts";
import { readGgufHeader } from "./gguf_header.ts";
import { estimateMemory } from "./memory_estimate.ts";
import { createModelProfile } from "./model_profile.ts";

async function withFile<Result>(
  bytes: Uint8Array,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = await Deno.makeTempFile({ suffix: ".gguf" });
  try {
    await Deno.writeFile(path, bytes);
    return await use(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("readGgufHeader() reads the properties of a model", async () => {
  const bytes = createTinyModel({ chatTemplate: "{{ messages }}", contextLength: 512 });
  const header = await withFile(bytes, readGgufHeader);
  assertEquals(header.vocabularySize, 264);
  const profile = createModelProfile(header);
  assertEquals(profile, {
    name: "Tiny",
    architecture: "llama",
    contextLength: 512,
    chatTemplate: "{{ messages }}",
    fileSize: bytes.length,
    // Two layers, two heads with 8 keys and 8 values of 2 bytes.
    bytesPerToken: 2 * 2 * 16 * 2,
    isEmbeddingModel: false,
  });
  const { weights, context } = estimateMemory(profile, { contextSize: 1_000, sequences: 2 });
  assertEquals([weights, context], [bytes.length, 256_000]);
  // A text that is evaluated at once needs one number of 2 bytes for each pair of its tokens.
  const [small, large] = [512, 16_384].map((batchSize) =>
    estimateMemory(profile, { contextSize: 16_384, batchSize }).overhead
  );
  assertEquals((large ?? 0) - (small ?? 0), 2 * 16_384 * (16_384 - 512));
});

Deno.test("readGgufHeader() reads the values of all types", async () => {
  const text = (value: string) => {
    const bytes = new TextEncoder().encode(value);
    return [...number(8, (view) => view.setBigUint64(0, BigInt(bytes.length), true)), ...bytes];
  };
  const number = (size: number, write: (view: DataView) => void) => {
    const bytes = new Uint8Array(size);
    write(new DataView(bytes.buffer));
    return [...bytes];
  };
  const uint32 = (value: number) => number(4, (view) => view.setUint32(0, value, true));
  const values: readonly (readonly [type: number, bytes: number[], value: unknown])[] = [
    [0, [200], 200],
    [1, [200], -56],
    [2, [1, 200], 51_201],
    [3, [1, 200], -14_335],
    [4, uint32(4e9), 4e9],
    [5, uint32(2 ** 32 - 2), -2],
    [6, number(4, (view) => view.setFloat32(0, 0.5, true)), 0.5],
    [7, [0], false],
    [7, [1], true],
    [8, text("é"), "é"],
    [10, number(8, (view) => view.setBigUint64(0, 5_000_000_000n, true)), 5e9],
    [11, number(8, (view) => view.setBigInt64(0, -5_000_000_000n, true)), -5e9],
    [12, number(8, (view) => view.setFloat64(0, 0.1, true)), 0.1],
  ];
  const entries = [
    [...text("general.architecture"), ...uint32(8), ...text("x")],
    [...text("x.block_count"), ...uint32(4), ...uint32(1)],
    [...text("x.embedding_length"), ...uint32(4), ...uint32(1)],
    [
      ...text("list"),
      ...uint32(9),
      ...uint32(5),
      ...uint32(2),
      0,
      0,
      0,
      0,
      ...uint32(7),
      ...uint32(9),
    ],
    ...values.map(([type, bytes], index) => [...text(`k${index}`), ...uint32(type), ...bytes]),
  ];
  const bytes = Uint8Array.from([
    ...new TextEncoder().encode("GGUF"),
    ...uint32(3),
    ...Array.from({ length: 8 }, () => 0),
    ...uint32(entries.length),
    0,
    0,
    0,
    0,
    ...entries.flat(),
    ...Array.from({ length: 64 }, () => 0),
  ]);
  const { metadata, lists } = await withFile(bytes, readGgufHeader);
  assertEquals(
    values.map((_, index) => metadata.get(`k${index}`)),
    values.map(([, , value]) => value),
  );
  assertEquals(lists.get("list"), [7, 9]);
});

Deno.test("readGgufHeader() recognizes models for embeddings", async () => {
  const header = await withFile(createTinyModel({ pooling: "mean" }), readGgufHeader);
  assertEquals(createModelProfile(header).isEmbeddingModel, true);
});

Deno.test("readGgufHeader() refuses a file that is cut off after any byte", async () => {
  const bytes = createTinyModel();
  const random = seededRandom(1);
  const path = await Deno.makeTempFile();
  for (let round = 0; round < 200; round++) {
    const length = round < 60 ? round : Math.floor(random() * (bytes.length - 32));
    await Deno.writeFile(path, bytes.subarray(0, length));
    const error = await assertRejects(() => readGgufHeader(path), BadRequestError);
    assert(/incomplete|no GGUF file/.test(error.message), error.message);
  }
  await Deno.remove(path);
});

const ROUNDS = Deno.env.get("SWINK_PROVE") === "1" ? 2_000 : 200;

Deno.test("readGgufHeader() reads a damaged file or refuses it, without another error", async () => {
  const bytes = createTinyModel();
  const random = seededRandom(2);
  const path = await Deno.makeTempFile();
  for (let round = 0; round < ROUNDS; round++) {
    const damaged = bytes.slice();
    for (let change = 0; change < 4; change++) {
      damaged[Math.floor(random() * 6_000)] = Math.floor(random() * 256);
    }
    await Deno.writeFile(path, damaged);
    try {
      createModelProfile(await readGgufHeader(path));
    } catch (error) {
      assert(error instanceof BadRequestError);
    }
  }
  await Deno.remove(path);
});

Deno.test("readGgufHeader() refuses two tokens with the same text, for which llama.cpp ends the process", async () => {
  const bytes = createTinyModel();
  const text = new TextDecoder("latin1").decode(bytes);
  const index = text.indexOf("<|im_end|>");
  bytes.set(new TextEncoder().encode("<|im_start|>").subarray(0, 10), index);
  const other = text.indexOf("<|im_start|>");
  bytes.set(new TextEncoder().encode("<|im_start"), other);
  bytes[other - 8] = 10;
  const copy = new Uint8Array(bytes.length - 2);
  copy.set(bytes.subarray(0, other + 10));
  copy.set(bytes.subarray(other + 12), other + 10);
  const error = await withFile(copy, (path) => assertRejects(() => readGgufHeader(path)));
  assert(
    error instanceof BadRequestError && error.message.includes("two tokens have the same text"),
  );
});

Deno.test("readGgufHeader() refuses texts that llama.cpp cuts off at a zero byte, and then ends the process", async () => {
  const text = new TextDecoder("latin1").decode(createTinyModel());
  const cases = [
    // The token is then that of its first character.
    [text.indexOf("<|im_end|>") + 1, "two tokens have the same text"],
    [text.indexOf("llama.attention.head_count"), "an entry of its metadata has no name"],
  ] as const;
  for (const [index, message] of cases) {
    const bytes = createTinyModel();
    bytes[index] = 0;
    await withFile(bytes, async (path) => {
      await assertRejects(() => readGgufHeader(path), BadRequestError, message);
    });
  }
});

Deno.test("readGgufHeader() refuses dimensions for which llama.cpp ends the process", async () => {
  const original = createTinyModel();
  const text = new TextDecoder("latin1").decode(original);
  const names = ["block_count", "embedding_length", "feed_forward_length", "attention.head_count"];
  for (const name of names) {
    const key = `llama.${name}`;
    const end = text.indexOf(key) + key.length;
    const missing = original.slice();
    missing[end - 1] = 120;
    // The value follows the type, which has four bytes.
    const zero = original.slice();
    zero.fill(0, end + 4, end + 8);
    const huge = original.slice();
    huge.fill(255, end + 4, end + 7);
    const isLimited = name === "block_count" || name === "attention.head_count";
    for (const bytes of [missing, zero, ...(isLimited ? [huge] : [])]) {
      const message = `its ${key} is ${
        bytes === missing ? "missing" : bytes === zero ? 0 : 16_777_215
      }`;
      await withFile(bytes, (path) => assertRejects(() => readGgufHeader(path), Error, message));
    }
  }
});

Deno.test("checkDimensions() checks only what the tensors need, and accepts lists", () => {
  const check = (entries: Record<string, number>, tensors: readonly string[], lists = {}) =>
    checkDimensions({
      metadata: new Map<string, string | number>([
        ["general.architecture", "x"],
        ["x.block_count", 1],
        ["x.embedding_length", 8],
        ...Object.entries(entries).map(([key, value]) => [`x.${key}`, value] as const),
      ]),
      lists: new Map(Object.entries(lists)),
      tensorNames: new Set(tensors),
    });
  check({}, ["blk.0.ssm_in.weight"]);
  const attention = ["blk.0.attn_qkv.weight"];
  assertThrows(() => check({}, attention), Error, "head_count is missing");
  assertThrows(() => check({ "attention.head_count": 16 }, attention), Error, "head_count is 16");
  check({ "attention.head_count": 16, "attention.key_length": 4 }, attention);
  check({}, attention, { "x.attention.head_count": [0, 4] });
  assertThrows(
    () => check({ "attention.head_count": 4, "attention.head_count_kv": 0 }, attention),
    Error,
    "head_count_kv is 0",
  );
  check({}, ["blk.0.ffn_up_exps.weight"]);
});

Deno.test("readGgufHeader() refuses vocabularies for which llama.cpp ends the process", async () => {
  await withFile(createModelWithVocabulary("none"), async (path) => {
    await assertRejects(() => readGgufHeader(path), BadRequestError, "it has no vocabulary");
  });
  const names = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase());
  const bytes = names.map((name) => `<0x${name.padStart(2, "0")}>`);
  await withFile(createModelWithVocabulary("llama", bytes), readGgufHeader);
  // Other tokens represent the letter A, and nothing the byte FF.
  const withoutLetter = bytes.filter((entry) => entry !== "<0x41>");
  await withFile(createModelWithVocabulary("llama", withoutLetter), readGgufHeader);
  await withFile(createModelWithVocabulary("llama", bytes.slice(0, 255)), async (path) => {
    await assertRejects(() => readGgufHeader(path), BadRequestError, "no token <0xFF>");
  });
});

/** Creates a model with a kind of vocabulary that has these tokens, too. */
function createModelWithVocabulary(
  kind: string,
  tokens: readonly string[] = [],
): Uint8Array<ArrayBuffer> {
  const bytes = createTinyModel({ scripts: [tokens] });
  const index = new TextDecoder("latin1").decode(bytes).indexOf("gpt2");
  // The data of the tensors begins at a multiple of 32 bytes.
  const changed = new Uint8Array(bytes.length + 64);
  changed.set(bytes.subarray(0, index));
  changed[index - 8] = kind.length;
  changed.set(new TextEncoder().encode(kind), index);
  changed.set(bytes.subarray(index + 4), index + kind.length);
  return changed;
}

Deno.test("readGgufHeader() refuses a part of a model", async () => {
  const bytes = createTinyModel();
  const text = new TextDecoder("latin1").decode(bytes);
  // Another number of 32 bits, with a name of the same length as the key.
  const key = "split.count";
  const name = "general.file_type";
  const index = text.indexOf(name);
  const entry = new Uint8Array(bytes.length - (name.length - key.length));
  entry.set(bytes.subarray(0, index));
  entry.set(new TextEncoder().encode(key), index);
  entry.set(bytes.subarray(index + name.length), index + key.length);
  entry[index - 8] = key.length;
  entry[index + key.length + 4] = 3;
  await withFile(entry, async (path) => {
    await assertRejects(() => readGgufHeader(path), Error, "it is one of 3 parts of a model");
  });
});

Deno.test("readGgufHeader() refuses a header that is too large, before it is read", async () => {
  const path = await Deno.makeTempFile();
  using file = await Deno.open(path, { write: true });
  const header = new DataView(new ArrayBuffer(24));
  header.setUint32(0, 0x46554747, true);
  header.setUint32(4, 3, true);
  header.setBigUint64(16, 60_000n, true);
  await file.write(new Uint8Array(header.buffer));
  // A sparse file of entries whose values are lists of 4 million bytes.
  file.truncateSync(20_000_000_000);
  const entry = new DataView(new ArrayBuffer(25));
  entry.setBigUint64(0, 1n, true);
  entry.setUint8(8, 97);
  entry.setUint32(9, 9, true);
  entry.setBigUint64(17, 4_000_000n, true);
  for (let index = 0; index < 80; index++) {
    file.seekSync(24 + index * (25 + 4_000_000), 0);
    await file.write(new Uint8Array(entry.buffer));
  }
  const error = await assertRejects(() => readGgufHeader(path), BadRequestError);
  assert(error.message.endsWith("its header is too large"), error.message);
  await Deno.remove(path);
});

Deno.test("createModelProfile() reads numbers of heads that differ between layers", () => {
  const metadata = new Map<string, string | number>([
    ["general.architecture", "x"],
    ["x.embedding_length", 64],
    ["x.block_count", 2],
  ]);
  const lists = new Map([
    ["x.attention.head_count", [4, 8]],
    ["x.attention.head_count_kv", [1, 2]],
  ]);
  const empty = { spacedTokens: new Map(), tensorNames: new Set<string>(), vocabularySize: 0 };
  const { bytesPerToken } = createModelProfile({ metadata, lists, fileSize: 1, ...empty });
  // Three heads with eight keys and eight values of two bytes.
  assertEquals(bytesPerToken, 3 * 16 * 2);
});

Deno.test("readGgufHeader() refuses files that are no models", async () => {
  const error = await assertRejects(() => readGgufHeader("/nowhere/a.gguf"), BadRequestError);
  assert(error.message.startsWith("Cannot load the model /nowhere/a.gguf: "));
  await assertRejects(() => readGgufHeader("."), BadRequestError, "it is no file");
  if (Deno.build.os !== "windows") {
    const directory = await Deno.makeTempDir();
    const pipe = `${directory}/pipe.gguf`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    await assertRejects(() => readGgufHeader(pipe), BadRequestError, "it is no file");
    await Deno.remove(directory, { recursive: true });
  }
  const text = new TextEncoder().encode("version https://git-lfs.github.com/spec/v1\n");
  await withFile(text, async (path) => {
    await assertRejects(() => readGgufHeader(path), BadRequestError, "it is no GGUF file");
  });
});
