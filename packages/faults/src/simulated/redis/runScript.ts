import { compileLua } from './compileLua.ts';
import type { Keyspace } from './keyspace.ts';
import { LuaError, luaRuntime, LuaTable, type LuaValue } from './luaRuntime.ts';
import { ErrorReply, integer, type Reply, StatusReply } from './reply.ts';

/** Runs `EVAL script numkeys key… argument…`. @throws `ErrorReply` */
export function runScript(keys: Keyspace, [, script = '', count, ...rest]: readonly string[]): Reply {
  const keyCount = integer(count);
  const [names, args] = [new LuaTable(rest.slice(0, keyCount)), new LuaTable(rest.slice(keyCount))];
  const run = compileLua(script);
  try {
    return toReply(run((...words) => fromReply(keys.call(toWords(words))), names, args));
  } catch (error) {
    if (error instanceof LuaError)
      throw new ErrorReply(`ERR user_script: ${error.message}`, { cause: error });
    throw error;
  }
}

/** The arguments of `redis.call`, in the same list, which is the caller's. Numbers get all their digits. */
function toWords(values: LuaValue[]): readonly string[] {
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (typeof value === 'number') values[at] = luaRuntime['%.17g'](value);
    else if (typeof value !== 'string')
      throw new LuaError('Lua redis lib command arguments must be strings or integers');
  }
  return values as string[];
}

function fromReply(reply: Reply): LuaValue {
  if (reply === null) return false;
  if (reply instanceof StatusReply) return new LuaTable([], { ok: reply.text });
  return typeof reply === 'object' ? new LuaTable(reply.map(fromReply)) : reply;
}

function toReply(value: LuaValue): Reply {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value);
  if (!(value instanceof LuaTable)) return value === true ? 1 : null;
  const [error, status] = [value.fields?.['err'], value.fields?.['ok']];
  if (typeof error === 'string') throw new ErrorReply(error);
  if (typeof status === 'string') return new StatusReply(status);
  const end = value.list.indexOf(undefined);
  return (end < 0 ? value.list : value.list.slice(0, end)).map(toReply);
}
