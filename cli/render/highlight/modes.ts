/**
 * The languages that can be highlighted.
 *
 * @module
 */

import * as clike from "@codemirror/legacy-modes/mode/clike";
import { clojure } from "@codemirror/legacy-modes/mode/clojure";
import { commonLisp } from "@codemirror/legacy-modes/mode/commonlisp";
import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { elm } from "@codemirror/legacy-modes/mode/elm";
import { erlang } from "@codemirror/legacy-modes/mode/erlang";
import { go } from "@codemirror/legacy-modes/mode/go";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { haskell } from "@codemirror/legacy-modes/mode/haskell";
import { http } from "@codemirror/legacy-modes/mode/http";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { julia } from "@codemirror/legacy-modes/mode/julia";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { fSharp, oCaml } from "@codemirror/legacy-modes/mode/mllike";
import { nginx } from "@codemirror/legacy-modes/mode/nginx";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { protobuf } from "@codemirror/legacy-modes/mode/protobuf";
import { python } from "@codemirror/legacy-modes/mode/python";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { scheme } from "@codemirror/legacy-modes/mode/scheme";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { stex } from "@codemirror/legacy-modes/mode/stex";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import type { StreamParser } from "@codemirror/streamparser";

/** Reads the tokens of a line. */
export type Mode = StreamParser<unknown>;

/** The modes, with the names and extensions of their languages. */
const MODES: readonly (readonly [mode: Mode, names: string])[] = [
  [javascript, "javascript js jsx mjs cjs node"],
  [typescript, "typescript ts tsx mts cts"],
  [json, "json jsonc json5 jsonl ndjson ipynb"],
  [python, "python py pyi py3 python3 starlark bzl"],
  [shell, "shell sh bash zsh ksh fish console shellsession shell-session terminal bats"],
  [clike.c, "c h"],
  [clike.cpp, "cpp c++ cc cxx hpp hh hxx cu ino arduino"],
  [clike.objectiveC, "objectivec objective-c objc m mm"],
  [clike.java, "java"],
  [clike.csharp, "csharp c# cs"],
  [clike.kotlin, "kotlin kt kts"],
  [clike.scala, "scala sc"],
  [clike.dart, "dart"],
  [clike.clike(createPhpConfig()), "php"],
  [go, "go golang"],
  [rust, "rust rs"],
  [ruby, "ruby rb"],
  [swift, "swift"],
  [html, "html htm xhtml vue svelte"],
  [xml, "xml xsl xslt plist csproj"],
  [css, "css"],
  [sCSS, "scss sass"],
  [less, "less"],
  [yaml, "yaml yml"],
  [toml, "toml"],
  [properties, "properties ini cfg dotenv"],
  [standardSQL, "sql mysql postgres postgresql sqlite psql"],
  [dockerFile, "dockerfile docker"],
  [diff, "diff patch udiff"],
  [lua, "lua"],
  [perl, "perl pl pm"],
  [powerShell, "powershell ps1 pwsh psm1"],
  [r, "r"],
  [haskell, "haskell hs"],
  [clojure, "clojure clj cljs edn"],
  [commonLisp, "lisp cl commonlisp el elisp"],
  [scheme, "scheme scm racket rkt"],
  [erlang, "erlang erl"],
  [elm, "elm"],
  [oCaml, "ocaml ml mli"],
  [fSharp, "fsharp f# fs fsx"],
  [julia, "julia jl"],
  [groovy, "groovy gradle"],
  [protobuf, "protobuf proto"],
  [nginx, "nginx nginxconf"],
  [stex, "latex tex"],
  [http, "http"],
];

const modesByName = new Map(
  MODES.flatMap(([mode, names]) => names.split(" ").map((name) => [name, mode] as const)),
);

/** Returns the mode of a language by its name or the extension of its files. */
export function findMode(language: string): Mode | undefined {
  return modesByName.get(language.toLowerCase());
}

/** PHP, which has no mode of its own. */
function createPhpConfig(): Parameters<typeof clike.clike>[0] {
  const words = (list: string) => Object.fromEntries(list.split(" ").map((word) => [word, true]));
  return {
    name: "php",
    keywords: words(
      "abstract and array as break callable case catch class clone const continue declare default do echo else elseif " +
        "enum extends final finally fn for foreach function global goto if implements include include_once instanceof " +
        "insteadof interface match namespace new or print private protected public readonly require require_once " +
        "return static switch throw trait try use var while xor yield",
    ),
    types: words("bool float int iterable mixed never object string void"),
    blockKeywords: words("catch do else elseif for foreach if switch try while finally"),
    atoms: words("true false null TRUE FALSE NULL"),
    multiLineStrings: true,
    hooks: {
      $: (stream: { eatWhile(pattern: RegExp): boolean }) => {
        stream.eatWhile(/[\w$]/);
        return "variable";
      },
      "#": (stream: { skipToEnd(): void }) => {
        stream.skipToEnd();
        return "comment";
      },
    },
  };
}
