/**
 * Models of the servers that run on this machine.
 *
 * @module
 */

import { urlVariable } from "../../adapters/connect.ts";
import { toServerUrl } from "../../adapters/ollama/server_url.ts";
import type { ProviderSettings } from "../config/provider_settings.ts";
import type { Host } from "../host/host.ts";

/** A model of a local server, or of this device. */
export interface LocalModel {
  /** Name of the server, for people. */
  readonly server: string;
  /** Name of the model with that of its provider: `ollama/qwen3`. */
  readonly name: string;
  /** Name of the preset to download before the model can run. Default: none. */
  readonly download?: string;
}

/** A kind of server. */
export interface LocalServer {
  /** Name for people. */
  readonly name: string;
  /** Name of its provider. */
  readonly provider: string;
  /** URL that it has unless its variable is set. */
  readonly url: string;
  /** Path of its list of models, below the URL. */
  readonly path: string;
  /** Returns the names of the models in the list. */
  readonly readNames: (list: unknown) => unknown[];
}

/** The servers, with the ports that they use unless they are configured. */
export const LOCAL_SERVERS: readonly LocalServer[] = [
  {
    name: "Ollama",
    provider: "ollama",
    url: "http://127.0.0.1:11434",
    path: "/api/tags",
    readNames: (list) => readList(list, "models").filter(canChat).map((model) => model?.name),
  },
  compatibleServer("LM Studio", "lmstudio", 1234),
  compatibleServer("llama.cpp", "llamacpp", 8080),
  compatibleServer("vLLM", "vllm", 8000),
];

/** A server on this machine answers at once, or after it has loaded a page of its list. */
const TIMEOUT_MS = 1_500;
/** A list of this many bytes names more models than anyone has. */
const MAX_LIST_BYTES = 1_000_000;

function compatibleServer(name: string, provider: string, port: number): LocalServer {
  return {
    name,
    provider,
    url: `http://127.0.0.1:${port}/v1`,
    path: "/models",
    readNames: (list) => readList(list, "data").map((model) => model?.id),
  };
}

/** An item of a list, which any program may have sent. */
interface ListedModel {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly details?: { readonly family?: unknown } | null;
}

/** Returns a list of an object; an empty one if the value has another shape. */
function readList(value: unknown, name: string): (ListedModel | null)[] {
  const list = (value as Record<string, unknown> | null)?.[name];
  return Array.isArray(list) ? list : [];
}

/** Whether Ollama lists a model with another network than those that only create embeddings, such as `nomic-bert`. */
function canChat(model: ListedModel | null): boolean {
  return !/bert/i.test(String(model?.details?.family ?? ""));
}

/** The models of the servers on this machine. */
export interface FoundModels {
  readonly models: readonly LocalModel[];
  /** Servers that answer only with a key. */
  readonly locked: readonly LocalServer[];
}

/** Options for `findLocalModels()`. */
export interface FindOptions {
  /** Settings of providers, by name. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Ends the search. */
  readonly signal: AbortSignal;
}

/**
 * Asks the servers on their usual ports, or at the URLs of their variables or of the configuration, for their models, and
 * returns those that can chat. A server that does not run, or answers something else, has none.
 */
export async function findLocalModels(
  { fetch, env }: Pick<Host, "fetch" | "env">,
  { providers, signal }: FindOptions,
): Promise<FoundModels> {
  const answers = await Promise.all(LOCAL_SERVERS.map(async (server) => {
    const { provider, url } = server;
    const address = env(urlVariable(provider) ?? "") || (providers[provider]?.baseUrl ?? url);
    const answer = await readModels(server, address, { fetch, signal }).catch(() => undefined);
    return { server, answer };
  }));
  return {
    models: answers.flatMap(({ server: { name, provider, readNames }, answer }) =>
      readNames(answer?.list).filter(isChatModel)
        .map((model) => ({ server: name, name: `${provider}/${model}` }))
    ),
    locked: answers.filter(({ answer }) => answer?.needsKey).map(({ server }) => server),
  };
}

/** Names of models that only create embeddings or rank texts, such as `nomic-embed-text`, `bge-m3` and `all-MiniLM-L6-v2`. */
const EMBEDDING_NAME =
  /(?:embed|rerank)[^/\\]*$|(?:^|[^a-z0-9])(?:bge|gte|e5|minilm|mpnet)(?![a-z])[^/\\]*$/i;

/**
 * Not every server lists the abilities of its models, so that names decide. The name of a model of llama.cpp can be its path,
 * with spaces and letters of any language.
 */
export function isChatModel(name: unknown): name is string {
  return typeof name === "string" && name === name.trim() &&
    /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(name) &&
    !EMBEDDING_NAME.test(name);
}

/** The list of models of a server, which is refused without a key if `needsKey` is set. */
interface ServerAnswer {
  readonly list?: unknown;
  readonly needsKey?: boolean;
}

async function readModels(
  { provider, path }: LocalServer,
  address: string,
  { fetch, signal }: Pick<Host, "fetch"> & { readonly signal: AbortSignal },
): Promise<ServerAnswer> {
  const baseUrl = provider === "ollama" ? toServerUrl(address) : toVersionedUrl(address);
  const response = await fetch(`${baseUrl}${path}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    redirect: "error",
  });
  const text = await readText(response);
  if (response.status === 401 || response.status === 403) return { needsKey: true };
  return response.ok ? { list: JSON.parse(text) } : {};
}

/** Adds the version of the API to a URL without a path, as the adapter does. */
function toVersionedUrl(address: string): string {
  const url = address.replace(/\/+$/, "");
  return /^https?:\/\/[^/?#]+$/.test(url) ? `${url}/v1` : url;
}

/** Reads a body of bounded size, since any program may listen on the port. */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_LIST_BYTES) throw new Error("The list of models is too long");
  }
  return text;
}
