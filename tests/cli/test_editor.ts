/**
 * `swink acp` with the client of the protocol's package, in this process.
 *
 * @module
 */

import { main } from "../../cli/main.ts";
import { connectToServer, type TestClient, type TestClientOptions } from "../acp/acp_client.ts";
import { createFakeHost, type FakeHost, type FakeHostOptions } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** `swink acp` with an editor. */
export interface Editor extends AsyncDisposable {
  readonly client: TestClient;
  readonly host: FakeHost;
  /** Path of the project. */
  readonly path: string;
  /** Home directory. */
  readonly home: string;
  /** Closes the connection; returns the exit code. */
  end(): Promise<number>;
}

/** Options for `startEditor()`. */
export interface EditorOptions extends Pick<FakeHostOptions, "model" | "env"> {
  readonly args?: readonly string[];
  /** Files of the home directory, in which the project is `p`. */
  readonly files?: Record<string, string>;
  readonly client?: (path: string) => TestClientOptions;
}

/** Starts `swink acp` with an editor. */
export async function startEditor(
  { args = [], files = {}, client: clientOptions, model, env }: EditorOptions,
): Promise<Editor> {
  const home = await createTemporaryDirectory({ "p/a.txt": "one\n", ...files });
  const path = await Deno.realPath(`${home.path}/p`);
  let host: FakeHost | undefined;
  let code: Promise<number> | undefined;
  const client = await connectToServer(({ input, output }) => {
    const fake = createFakeHost({
      ...(model && { model }),
      input,
      env: { ANTHROPIC_API_KEY: "k", HOME: home.path, ...env },
    });
    host = fake;
    const writer = output.getWriter();
    const terminal = Object.create(fake.terminal, {
      output: {
        value: {
          isTerminal: false,
          closed: fake.terminal.output.closed,
          write: (bytes: Uint8Array) => writer.write(bytes),
        },
      },
    });
    return code = main(["acp", ...args], { ...fake, terminal });
  }, { cwd: path, ...clientOptions?.(path) });
  if (!host) throw new Error("The program has not started");
  return {
    client,
    host,
    path,
    home: home.path,
    async end() {
      client.close();
      return await code ?? -1;
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}
