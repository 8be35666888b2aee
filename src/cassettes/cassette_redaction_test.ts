import { assertEquals } from "@std/assert";
import { seededRandom } from "../testing/seeded_random.ts";
import {
  extractSecrets,
  redactChunks,
  redactHeaders,
  redactRequest,
} from "./cassette_redaction.ts";
import { createOutgoingRequest, type FetchArguments } from "./cassette_request.ts";

const url = "https://api.example.com/v1";

async function redactFetch(...request: FetchArguments) {
  const outgoing = await createOutgoingRequest(...request);
  return redactRequest(outgoing, extractSecrets(outgoing));
}

function encodeTexts(...texts: string[]): Uint8Array[] {
  return texts.map((text) => new TextEncoder().encode(text));
}

function decodeChunks(chunks: readonly Uint8Array[]): string[] {
  return chunks.map((chunk) => new TextDecoder().decode(chunk));
}

Deno.test("redactHeaders() hides keys, tokens, cookies and account ids, and keeps other headers", () => {
  const secret = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-amz-security-token",
    "cookie",
    "set-cookie",
    "anthropic-organization-id",
    "openai-organization",
    "x-custom-auth",
    "x_session",
  ];
  const open = [
    "content-type",
    "retry-after",
    "request-id",
    "anthropic-version",
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-input-tokens-limit",
  ];
  const headers = redactHeaders(new Headers([...secret, ...open].map((name) => [name, "v"])), []);
  for (const name of secret) assertEquals(headers[name], "[redacted]", name);
  for (const name of open) assertEquals(headers[name], "v", name);
});

Deno.test("redactRequest() hides secret parameters in URLs and forms", async () => {
  const { url: redactedUrl } = await redactFetch(
    `${url}/a?alt=sse&key=abc&X-Amz-Signature=def&page=2`,
  );
  assertEquals(redactedUrl, `${url}/a?alt=sse&key=[redacted]&X-Amz-Signature=[redacted]&page=2`);
  const form = new URLSearchParams({ grant_type: "client_credentials", client_secret: "s3cr3t" });
  const { body } = await redactFetch(url, { method: "POST", body: form });
  assertEquals(body, { text: "grant_type=client_credentials&client_secret=[redacted]" });
});

Deno.test("redactRequest() hides the key of a request wherever the request repeats it", async () => {
  const key = "a-key-without-known-prefix";
  const { body, url: redactedUrl, headers } = await redactFetch(`${url}/${key}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "x-echo": key },
    body: JSON.stringify({ text: `my key is ${key}` }),
  });
  assertEquals(redactedUrl, `${url}/[redacted]`);
  assertEquals(headers["x-echo"], "[redacted]");
  assertEquals(body, { json: { text: "my key is [redacted]" } });
});

Deno.test("redactRequest() does not search for keys shorter than 8 characters", async () => {
  const { headers, body } = await redactFetch(url, {
    method: "POST",
    headers: { "x-api-key": "test" },
    body: "a test",
  });
  assertEquals([headers["x-api-key"], body], ["[redacted]", { text: "a test" }]);
});

Deno.test("redactRequest() keeps words in texts that a gateway without keys accepts as a key", async () => {
  for (const key of ["anything", "not-needed", "PLACEHOLDER"]) {
    const { headers, body } = await redactFetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "x-api-key": key },
      body: `Do not change ${key}`,
    });
    assertEquals(headers["authorization"], "[redacted]");
    assertEquals(headers["x-api-key"], "[redacted]");
    assertEquals(body, { text: `Do not change ${key}` });
  }
});

Deno.test("redactRequest() hides keys that are no short words wherever the request repeats them", async () => {
  for (const key of ["anything1", "aNyThInGs", "a-long-key-without-digits", "abc_def_.ghi"]) {
    const { body } = await redactFetch(`https://proxy.example.com/`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: `my key is ${key}`,
    });
    assertEquals(body, { text: "my key is [redacted]" }, key);
  }
});

Deno.test("redactRequest() hides the password of a URL wherever the request repeats it", async () => {
  const { body } = await redactFetch("https://me:sunflower@example.com/?token=sunflowers", {
    method: "POST",
    body: "sunflower sunflowers",
  });
  assertEquals(body, { text: "[redacted] [redacted]" });
});

Deno.test("redactRequest() stores a body as JSON, else as text, else as base64", async () => {
  const redactBody = async (body: BodyInit) =>
    (await redactFetch(url, { method: "POST", body })).body;
  assertEquals(await redactBody('{"a": [1, null, {"b": "c"}]}'), {
    json: { a: [1, null, { b: "c" }] },
  });
  assertEquals(await redactBody("no json"), { text: "no json" });
  assertEquals(await redactBody(new Uint8Array([0xff, 0])), { base64: "/wA=" });
  assertEquals((await redactFetch(url)).body, undefined);
});

Deno.test("redaction: hides JSON members with the name of a secret, in requests and responses", async () => {
  const json = {
    password: "hunter2",
    deep: [{ api_key: "k", key: "open" }],
    accessToken: { a: 1 },
  };
  const { body } = await redactFetch(url, { method: "POST", body: JSON.stringify(json) });
  assertEquals(body, {
    json: {
      password: "[redacted]",
      deep: [{ api_key: "[redacted]", key: "open" }],
      accessToken: { a: 1 },
    },
  });
  const token = '{"token_type":"Bearer","access_token" : "a\\"b","expires_in":3599}';
  assertEquals(decodeChunks(redactChunks(encodeTexts(token), [])), [
    '{"token_type":"Bearer","access_token" : "[redacted]","expires_in":3599}',
  ]);
});

Deno.test("redaction: hides tokens of services that a request names, and the parts of a token exchange", async () => {
  const names = ["authorization_token", "bearer_token", "bot_token", "subject_token"];
  const json = Object.fromEntries(names.map((name) => [name, "k"]));
  const { body } = await redactFetch(url, { method: "POST", body: JSON.stringify(json) });
  assertEquals(body, { json: Object.fromEntries(names.map((name) => [name, "[redacted]"])) });
  const open = { page_token: "k", max_tokens: "k", webhook: "k" };
  const kept = await redactFetch(url, { method: "POST", body: JSON.stringify(open) });
  assertEquals(kept.body, { json: open });
  const form = ["client_assertion", "assertion", "subject_token", "code_verifier", "device_code"];
  const { body: redacted } = await redactFetch(url, {
    method: "POST",
    body: new URLSearchParams([["assertion_type", "k"], ...form.map((name) => [name, "k"])]),
  });
  assertEquals(redacted, {
    text: ["assertion_type=k", ...form.map((name) => `${name}=[redacted]`)].join("&"),
  });
});

Deno.test("redactChunks() hides a key that spans chunks, and keeps their number", () => {
  const cut = encodeTexts("data: sk-abcd", "efghijkl", "mnop\n", "", "data: x\n");
  assertEquals(decodeChunks(redactChunks(cut, [])), [
    "data: [redacted]",
    "",
    "\n",
    "",
    "data: x\n",
  ]);
});

Deno.test("redactChunks() keeps the bytes of chunks without secrets, even if they are not valid UTF-8", () => {
  const chunks = [new Uint8Array([0xe2, 0x82]), new Uint8Array([0xac, 0xff, 0x00])];
  assertEquals(redactChunks(chunks, ["€uro"]), chunks);
});

Deno.test("redactChunks() finds a secret that is not ASCII", () => {
  assertEquals(decodeChunks(redactChunks(encodeTexts("a€", "uro b"), ["a€uro"])), [
    "[redacted]",
    " b",
  ]);
});

Deno.test("redactChunks() returns the same text for every way to split a body (seed 11)", () => {
  const random = seededRandom(11);
  const body = 'é {"text":"sk-abcdefghijklmnop and Bearer abcdefghijkl"} sk-qrstuvwxyzabcdef €';
  const [expected] = decodeChunks(redactChunks(encodeTexts(body), []));
  assertEquals(
    expected,
    'é {"text":"[redacted] and Bearer [redacted]"} [redacted] €',
  );
  const bytes = new TextEncoder().encode(body);
  for (let round = 0; round < 200; round++) {
    const chunks: Uint8Array[] = [];
    for (let start = 0; start < bytes.length;) {
      const end = start + 1 + Math.floor(random() * 9);
      chunks.push(bytes.slice(start, end));
      start = end;
    }
    const redacted = redactChunks(chunks, []);
    assertEquals(redacted.length, chunks.length);
    const joined = new Uint8Array(redacted.flatMap((chunk) => [...chunk]));
    assertEquals(new TextDecoder().decode(joined), expected);
  }
});

Deno.test("redactRequest() hides user name and password of a URL", async () => {
  const redactOne = async (address: string) => (await redactFetch(address)).url;
  assertEquals(
    await redactOne("https://me:s3cr3t@host.example/a"),
    "https://[redacted]@host.example/a",
  );
  assertEquals(
    await redactOne("https://key-only@host.example/a"),
    "https://[redacted]@host.example/a",
  );
});

Deno.test("redactRequest() hides parameters of a URL such as auth, and keeps its path", async () => {
  const { url } = await redactFetch("https://host.example/a@b?auth=x&token=y");
  assertEquals(url, "https://host.example/a@b?auth=[redacted]&token=[redacted]");
});

Deno.test("redaction: hides members named token of 8 characters or more, not the tokens of a text", async () => {
  const json = {
    token: "tok-12345678",
    logprobs: [{ token: "Hello" }],
    auth: { secret: "abcdefgh" },
  };
  const redacted = {
    token: "[redacted]",
    logprobs: [{ token: "Hello" }],
    auth: { secret: "[redacted]" },
  };
  const { body } = await redactFetch(url, { method: "POST", body: JSON.stringify(json) });
  assertEquals(body, { json: redacted });
  const chunks = redactChunks(encodeTexts(JSON.stringify(json)), []);
  assertEquals(decodeChunks(chunks), [JSON.stringify(redacted)]);
});

Deno.test("redactRequest() hides members with a header's name, passphrases, and keys in a fragment", async () => {
  const body = JSON.stringify({ "x-api-key": "a", passphrase: "b", pwd: "c", passage: "d" });
  const request = await redactFetch(`${url}#access_token=e`, { method: "POST", body });
  const [hidden, fragment] = ["[redacted]", "#access_token=[redacted]"];
  assertEquals(request.body, {
    json: { "x-api-key": hidden, passphrase: hidden, pwd: hidden, passage: "d" },
  });
  assertEquals(request.url, url + fragment);
});

Deno.test("redactHeaders() hides keys in the query of a redirect", () => {
  const headers = new Headers({ location: "/next?token=my-token&page=2" });
  assertEquals(redactHeaders(headers, []), { location: "/next?token=[redacted]&page=2" });
});

Deno.test("redactRequest() hides a key in a body that is not UTF-8, such as a form with a file", async () => {
  const encode = (text: string) => new TextEncoder().encode(text);
  const file = new Uint8Array([0xff, 0]);
  const body = new Uint8Array([...file, ...encode("key=sk-secret-key-1")]);
  const headers = { "x-api-key": "sk-secret-key-1" };
  const request = await redactFetch(url, { method: "POST", body, headers });
  const stored = request.body && "base64" in request.body ? request.body.base64 : "";
  assertEquals(atob(stored), "\xff\0key=[redacted]");
});

Deno.test("redactRequest() hides members with the name of a secret in a text, such as a file that a tool has read", async () => {
  const file = '1\t{ "password": "hunter22",\n2\t  "secret_key": "abc", "user": "ada" }';
  const { body } = await redactFetch(url, {
    method: "POST",
    body: JSON.stringify({ messages: [{ role: "tool", content: file }] }),
  });
  const content =
    '1\t{ "password": "[redacted]",\n2\t  "secret_key": "[redacted]", "user": "ada" }';
  assertEquals(body, { json: { messages: [{ role: "tool", content }] } });
});

Deno.test("redaction: hides variables such as GITHUB_TOKEN in JSON, not references and other variables", async () => {
  const secret = "BSAx7Lm2Kp4RvW8s";
  const hidden = { BRAVE_API_KEY: secret, GITHUB_TOKEN: secret, DB_PASSWORD: "$ecret-Kp4RvW8s" };
  const kept = {
    A_TOKEN: "${GITHUB_TOKEN}",
    B_TOKEN: "<github-token>",
    C_API_KEY: "your-key-here",
    D_API_KEY: "YOUR_API_KEY",
    E_PASSWORD: "Enter your password",
    SORT_KEY: "created_at",
    MAX_TOKENS: "1000000000",
    next_page_token: "CAUQAAabcdef",
  };
  const redacted = {
    BRAVE_API_KEY: "[redacted]",
    GITHUB_TOKEN: "[redacted]",
    DB_PASSWORD: "[redacted]",
    ...kept,
  };
  const file = JSON.stringify({ env: { ...hidden, ...kept } }, null, 2);
  const { body } = await redactFetch(url, {
    method: "POST",
    body: JSON.stringify({ env: { ...hidden, ...kept }, content: file }),
  });
  const content = JSON.stringify({ env: redacted }, null, 2);
  assertEquals(body, { json: { env: redacted, content } });
  assertEquals(decodeChunks(redactChunks(encodeTexts(file), [])), [content]);
});

Deno.test("redaction: hides members such as db_password and smtpPassword, not descriptions and other members", async () => {
  const secret = "Lm2Kp4RvW8s!";
  const hidden = {
    db_password: secret,
    "smtp-password": "correct-horse-battery",
    stripe_secret_key: secret,
    aws_secret_access_key: secret,
    webhook_secret: secret,
    openai_api_key: secret,
    slack_bot_token: secret,
    smtpPassword: secret,
    ConnectionPassword: secret,
    googleApiKey: secret,
    jwtSecret: secret,
  };
  const kept = {
    forgot_password: "forgot-password.html",
    resetPassword: "reset-password.html",
    user_password: "required",
    new_password: "Enter a new password",
    login_password: "/login/password",
    mail_password: "$mail_password",
    ftp_password: "${FTP_PASSWORD}",
    nextPageToken: "CAUQAAabcdef",
    page_token: "CAUQAAabcdef",
    primary_key: "customer_id",
    primaryKey: "customer_id",
    secretary: "Ada Lovelace1",
  };
  const names = Object.keys(hidden);
  const redacted = { ...Object.fromEntries(names.map((name) => [name, "[redacted]"])), ...kept };
  const file = JSON.stringify({ ...hidden, ...kept }, null, 2);
  const { body } = await redactFetch(url, {
    method: "POST",
    body: JSON.stringify({ config: { ...hidden, ...kept }, content: file }),
  });
  const content = JSON.stringify(redacted, null, 2);
  assertEquals(body, { json: { config: redacted, content } });
  assertEquals(decodeChunks(redactChunks(encodeTexts(file), [])), [content]);
});

Deno.test("redactRequest() hides parameters such as subscription-key and private_token", async () => {
  for (const name of ["subscription-key", "private_token", "pwd", "passphrase"]) {
    const { url: address } = await redactFetch(`https://host.example/?${name}=x7Lm2Kp4`);
    assertEquals(address, `https://host.example/?${name}=[redacted]`);
  }
});
