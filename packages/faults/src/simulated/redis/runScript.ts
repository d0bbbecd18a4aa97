import { compileLua } from './compileLua.ts';
import type { Keyspace } from './keyspace.ts';
import { listOf, LuaError, LuaTable, type LuaValue, tableOf } from './luaRuntime.ts';
import { ErrorReply, integer, type Reply } from './reply.ts';

/** Runs `EVAL script numkeys key… argument…`. @throws `ErrorReply` */
export function runScript(keys: Keyspace, [, script = '', count, ...rest]: readonly string[]): Reply {
  const keyCount = integer(count);
  const [names, args] = [tableOf(rest.slice(0, keyCount)), tableOf(rest.slice(keyCount))];
  const run = compileLua(script);
  try {
    return toReply(run((words) => fromReply(keys.call(words.map(toWord))), names, args));
  } catch (error) {
    if (error instanceof LuaError)
      throw new ErrorReply(`ERR user_script: ${error.message}`, { cause: error });
    throw error;
  }
}

/** An argument of `redis.call`. Numbers get all their digits. */
function toWord(value: LuaValue): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new LuaError('Lua redis lib command arguments must be strings or integers');
}

function fromReply(reply: Reply): LuaValue {
  if (reply === null) return false;
  return typeof reply === 'object' ? tableOf(reply.map(fromReply)) : reply;
}

function toReply(value: LuaValue): Reply {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value);
  if (value instanceof LuaTable) return listOf(value).map(toReply);
  return value === true ? 1 : null;
}
