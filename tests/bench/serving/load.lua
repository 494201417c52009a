-- Requests for wrk: the lines of one file in random order, or once each until the last, with the
-- keys of another file in turn.
-- Arguments: `random` or `once`, the file of requests (a path, or a path, a tab and an entity tag), the file of keys,
-- a seed.
local heads, keys, in_order, place, turn = {}, {}, false, 0, 0

function init(arguments)
  in_order = arguments[1] == "once"
  for line in io.lines(arguments[2]) do
    local path, tag = line:match("^(%S+)\t?(.*)$")
    local condition = tag ~= "" and "If-None-Match: " .. tag .. "\r\n" or ""
    heads[#heads + 1] = "GET " .. path .. " HTTP/1.1\r\nHost: bench\r\n" .. condition .. "X-Api-Key: "
  end
  for line in io.lines(arguments[3]) do
    keys[#keys + 1] = line
  end
  math.randomseed(tonumber(arguments[4]))
  turn = math.random(#keys)
end

function request()
  turn = turn % #keys + 1
  place = in_order and place + 1 or math.random(#heads)
  if place > #heads then
    os.exit(0)
  end
  return heads[place] .. keys[turn] .. "\r\n\r\n"
end

-- the last line of the output: times in microseconds
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"bytes":%d,"duration":%d,"errors":%d,"p50":%d,"p99":%d,"longest":%d}\n',
    summary.requests, summary.bytes, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency.max
  ))
end
