/**
 * The configuration of a server with its variables replaced.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { getArgumentSecrets } from "./argument_secrets.ts";
import { expandVariables, listValues, type Variables } from "./expand_variables.ts";
import type { ParsedEndpoint, ParsedProgram, ParsedServer } from "./parse_config.ts";

/** A server that can be connected to. */
export type ResolvedServer = ParsedProgram | ResolvedEndpoint;

/** A server that is reached over HTTP, at a valid URL. */
export interface ResolvedEndpoint extends Omit<ParsedEndpoint, "url"> {
  readonly url: URL;
}

/** A server with its name. */
export interface NamedServer {
  readonly name: string;
  readonly server: ParsedServer;
}

/**
 * Replaces the variables in the texts of a server.
 *
 * @throws {BadRequestError} If a variable without a default is not set, or the URL is invalid. The message begins with
 * the key, and contains no values.
 */
export function resolveServer({ name, server }: NamedServer, variables: Variables): ResolvedServer {
  const expand = (key: string, text: string) =>
    expandVariables(`mcpServers.${name}.${key}`, text, variables);
  const expandRecord = (key: string, texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(texts).map(([field, text]) => [field, expand(`${key}.${field}`, text)]),
    );
  switch (server.type) {
    case "stdio": {
      const { command, args, env, cwd } = server;
      return {
        ...server,
        command: expand("command", command),
        args: args.map((text, index) => expand(`args.${index}`, text)),
        env: expandRecord("env", env),
        cwd: cwd === undefined ? undefined : expand("cwd", cwd),
      };
    }
    case "http": {
      const url = expand("url", server.url);
      if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
        throw new BadRequestError(
          `mcpServers.${name}.url: must begin with https:// or http:// and be a valid URL`,
        );
      }
      return { ...server, url: new URL(url), headers: expandRecord("headers", server.headers) };
    }
    case "unsupported":
      throw new BadRequestError(
        `mcpServers.${name}.type: the transport "${server.transport}" is not supported; ` +
          'many such servers also have "http", at another URL',
      );
  }
}

/**
 * Returns the texts of a server that may be secrets: its environment and headers, also without their scheme such as
 * `Bearer`, the password and the query of its URL, the values of options such as `--api-key`, and of the variables in its
 * arguments and its URL.
 */
export function getSecrets(
  server: ResolvedServer,
  { server: source }: NamedServer,
  variables: Variables,
): readonly string[] {
  const texts = source.type === "stdio" ? source.args : source.type === "http" ? [source.url] : [];
  const values = listValues(texts, variables);
  switch (server.type) {
    case "stdio":
      return [...Object.values(server.env), ...values, ...getArgumentSecrets(server.args)];
    case "http":
      return [...getEndpointSecrets(server), ...values];
  }
}

function getEndpointSecrets({ headers, url }: ResolvedEndpoint): readonly string[] {
  const values = Object.values(headers);
  const credentials = values.map((value) => value.replace(/^\S+\s+/, ""));
  return [
    ...values,
    ...credentials,
    url.password,
    url.search.slice(1),
    ...url.searchParams.values(),
  ];
}
