/**
 * Forms in which Anthropic accepts parts of earlier replies.
 *
 * @module
 */

import type { ExtensionBlock } from "../../src/core/messages/content.ts";
import {
  BOOLEAN_SHAPE,
  listShape,
  type MemberShapes,
  NUMBER_SHAPE,
  OBJECT_SHAPE,
  objectShape,
  optionalShape,
  patternShape,
  type Shape,
  TEXT_SHAPE,
  TYPED_OBJECT_SHAPE,
  typedShape,
  unionShape,
} from "../kit/request/item_shapes.ts";
import type { ReplayRules } from "../kit/request/replay_rules.ts";
import { isCallSignature } from "./caller.ts";
import { CONTAINER } from "./container.ts";
import { EXTENSION_PREFIX, type WireBlock } from "./wire.ts";

const ID = patternShape(/^[A-Za-z0-9_-]+$/);

/** The caller of a tool. */
const CALLER = objectShape({ type: TEXT_SHAPE, tool_id: optionalShape(ID) });

const TEXTS = typedShape({ text: { text: TEXT_SHAPE } });
const ERROR: MemberShapes = { error_code: TEXT_SHAPE };
const OUTPUT_FILES = listShape(objectShape({ type: TEXT_SHAPE, file_id: TEXT_SHAPE }));
const CONSOLE: MemberShapes = {
  stdout: TEXT_SHAPE,
  stderr: TEXT_SHAPE,
  return_code: NUMBER_SHAPE,
  content: OUTPUT_FILES,
};

/** Results of server tools by their type. */
const RESULTS: Readonly<Record<string, MemberShapes>> = {
  web_search_result: {
    url: TEXT_SHAPE,
    title: TEXT_SHAPE,
    encrypted_content: TEXT_SHAPE,
    page_age: optionalShape(TEXT_SHAPE),
  },
  web_search_tool_result_error: ERROR,
  web_fetch_result: {
    url: TEXT_SHAPE,
    content: typedShape({
      document: { source: TYPED_OBJECT_SHAPE, title: optionalShape(TEXT_SHAPE) },
    }),
    retrieved_at: optionalShape(TEXT_SHAPE),
  },
  web_fetch_tool_result_error: ERROR,
  code_execution_result: CONSOLE,
  encrypted_code_execution_result: {
    ...CONSOLE,
    stdout: optionalShape(TEXT_SHAPE),
    encrypted_stdout: TEXT_SHAPE,
  },
  code_execution_tool_result_error: ERROR,
  bash_code_execution_result: CONSOLE,
  bash_code_execution_tool_result_error: ERROR,
  text_editor_code_execution_tool_result_error: ERROR,
  tool_search_tool_search_result: {
    tool_references: listShape(typedShape({ tool_reference: { tool_name: TEXT_SHAPE } })),
  },
  tool_search_tool_result_error: ERROR,
};

const RESULT = typedShape(RESULTS, TYPED_OBJECT_SHAPE);

const CALL: MemberShapes = {
  id: ID,
  name: TEXT_SHAPE,
  input: OBJECT_SHAPE,
  caller: optionalShape(CALLER),
};
const ANSWER: MemberShapes = { tool_use_id: ID, caller: optionalShape(CALLER) };

/** Items by type, apart from calls and results of other server tools. */
const ITEMS: Readonly<Record<string, MemberShapes>> = {
  mcp_tool_use: { ...CALL, server_name: TEXT_SHAPE },
  mcp_tool_result: {
    ...ANSWER,
    content: optionalShape(unionShape(TEXT_SHAPE, listShape(TEXTS))),
    is_error: optionalShape(BOOLEAN_SHAPE),
  },
  container_upload: { file_id: TEXT_SHAPE },
  compaction: {
    content: optionalShape(TEXT_SHAPE),
    encrypted_content: optionalShape(TEXT_SHAPE),
    signature: optionalShape(TEXT_SHAPE),
  },
  fallback: { from: OBJECT_SHAPE, to: OBJECT_SHAPE },
};

const isContainer = objectShape({ id: TEXT_SHAPE, expires_at: optionalShape(TEXT_SHAPE) });

const SERVER_CALL = objectShape(CALL);
const SERVER_RESULT = objectShape({ ...ANSWER, content: unionShape(RESULT, listShape(RESULT)) });

/** Items of server tools that have the forms of the others, so that new tools work, too. */
const isServerItem: Shape = (value) => {
  const { type } = value as WireBlock;
  if (/._tool_use$/.test(type)) return SERVER_CALL(value);
  return /._tool_result$/.test(type) && SERVER_RESULT(value);
};

/** MemberShapes of a type that is no item: the conversation has calls and results in another form. */
const NO_ITEM: MemberShapes = { type: () => false };

const isItem = typedShape({ ...ITEMS, tool_use: NO_ITEM, tool_result: NO_ITEM }, isServerItem);

const CITED_DOCUMENT: MemberShapes = {
  cited_text: TEXT_SHAPE,
  document_index: NUMBER_SHAPE,
  document_title: optionalShape(TEXT_SHAPE),
};

/** Citations by type; `file_id` is removed before they are sent. */
const isCitation = typedShape({
  char_location: {
    ...CITED_DOCUMENT,
    start_char_index: NUMBER_SHAPE,
    end_char_index: NUMBER_SHAPE,
  },
  page_location: {
    ...CITED_DOCUMENT,
    start_page_number: NUMBER_SHAPE,
    end_page_number: NUMBER_SHAPE,
  },
  content_block_location: {
    ...CITED_DOCUMENT,
    start_block_index: NUMBER_SHAPE,
    end_block_index: NUMBER_SHAPE,
  },
  web_search_result_location: {
    cited_text: TEXT_SHAPE,
    encrypted_index: TEXT_SHAPE,
    title: optionalShape(TEXT_SHAPE),
    url: TEXT_SHAPE,
  },
  search_result_location: {
    cited_text: TEXT_SHAPE,
    search_result_index: NUMBER_SHAPE,
    source: TEXT_SHAPE,
    title: optionalShape(TEXT_SHAPE),
    start_block_index: NUMBER_SHAPE,
    end_block_index: NUMBER_SHAPE,
  },
});

/** Whether a block is an item that is sent back as a block; the API rejects a conversation with others. */
export function isReplayedItem({ typeName, data }: ExtensionBlock): boolean {
  return isItem(data) && typeName === EXTENSION_PREFIX + (data as WireBlock).type;
}

/** Forms of items, signatures and citations. Anthropic's signatures of thinking are opaque. */
export const ANTHROPIC_REPLAY: ReplayRules = {
  isItem: (block) => block.typeName === CONTAINER ? isContainer(block.data) : isReplayedItem(block),
  isSignature: (signature, block) => {
    switch (block.type) {
      case "text":
        return false;
      case "thinking":
        return true;
      case "tool_call":
        return isCallSignature(signature, CALLER);
    }
  },
  isCitation,
};
