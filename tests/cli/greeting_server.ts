/**
 * An MCP server as a script of the shell.
 *
 * @module
 */

/** A server with the tool `greet`, which returns a variable of its environment. */
export const GREETING_SERVER = `while read -r line; do
  case "$line" in *'"id":'*) id=\${line##*'"id":'} id=\${id%%[,\\}]*} ;; *) continue ;; esac
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"mock","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result="{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"Hello $NAME\\"}]}" ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\\n' "$id"; continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done
`;

/** A server with the prompt `greeting`, which has a required argument, and with a resource. */
export const INPUT_SERVER = `while read -r line; do
  case "$line" in *'"id":'*) id=\${line##*'"id":'} id=\${id%%[,\\}]*} ;; *) continue ;; esac
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"mock","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[]}' ;;
    *'"prompts/list"'*) result='{"prompts":[{"name":"greeting","description":"Greets","arguments":[{"name":"who","required":true},{"name":"style"}]}]}' ;;
    *'"prompts/get"'*'"who":"Ada Lovelace"'*) result='{"messages":[{"role":"user","content":{"type":"text","text":"Greet Ada @notes.txt"}}]}' ;;
    *'"resources/list"'*) result='{"resources":[{"uri":"note://a","name":"A"}]}' ;;
    *'"resources/read"'*) result='{"contents":[{"uri":"note://a","text":"A note."}]}' ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\\n' "$id"; continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done
`;
