-- The language server in Neovim at places of the examples, also in broken files and with tabs:
-- CUVEE=... EXAMPLES=FOLDER nvim --headless -u NONE -c 'luafile places.lua', where FOLDER is a copy of the examples.
-- At each place a word is completed, or a name is renamed. Ends with 1 where something is otherwise.

local cuvee = os.getenv('CUVEE') or 'cuvee'
local examples = os.getenv('EXAMPLES')
local wrong = {}

-- Each place: a file, a line (a pattern), what is written in its place (with `|` for the cursor), and
-- either words that are offered or a new name with the number of words that it takes the place of.
-- `before` and `behind` are lines that are broken above and below.
local shop = 'shop/variable-service-template.yaml'
local guestbook = 'guestbook/variable-service-template.yaml'
local places = {
  { shop, '        - port: 0x1F90', '        - po|rt: 0x1F90', rename = 'door', count = 2 },
  { 'shop/lib/types.yaml', '      - checkout:', '      - |checkout:', rename = 'till', count = 2 },
  { shop, '        - metrics: metrics', '        - met|rics: metrics', rename = 'figures', count = 7 },
  { shop, '        memory: 256 MB', '        memory|: 256 MB', rename = 'room', count = 2 },
  { guestbook, '        title: "Guests of the Harbour House"', '        titl|e: "Guests of the Harbour House"', rename = 'heading', count = 2 },
  { guestbook, '        - index:', '        - |index:', rename = 'words', count = 2 },
  { 'catalogue/types.yaml', '      - store: { capability: Tables', nil, rename = 'keeps', count = 2, word = 'store' },
  { 'technologies/lib/types.yaml', '      - database:', '      - |database:', rename = 'db', count = 2 },
  { shop, '    cache:', '    ca|che:', rename = 'store', count = 3 },
  { shop, '      tls:', '      t|ls:', rename = 'secure', count = 5 },
  { shop, '        - host: broker', '        - ho|st: broker', refused = 'leads to a host' },
  { shop, '        - password:', '        - pass|word:', refused = 'kept secret' },
  { shop, '      type: shop.nodes.Cache', '      type: shop.nodes.Ca|', offers = { 'shop.nodes.Cache' }, before = '    x: {type: [shop.nodes.Box' },
  { shop, '      type: shop.nodes.Cache', '      type: "shop.nodes.|', offers = { 'shop.nodes.Cache' }, behind = '      weight: {a: [' },
  { shop, '      type: shop.nodes.Cache', '      type: shop.nodes.|', offers = { 'shop.nodes.Cache' }, before = '    x:\n\ttype: shop.nodes.Box' },
  { shop, '        memory: 256 MB', '        mem|', offers = { 'memory' }, before = '    x: {type: "shop.nodes.Box' },
  { shop, '        - cache:', '        - ca|', offers = { 'cache', 'checkout' }, before = '    x: {type: [shop.nodes.Box, ' },
  { shop, '            node: cache', '            node: |', offers = { 'cache' }, never = { 'broker' } },
  { shop, '            conditions: { variability_input: tls }', '            conditions: { variability_input: t|', offers = { 'tls' } },
  { guestbook, '      type: Site', '      type:\tSi|', offers = { 'Site' } },
  { guestbook, '        title: "Guests of the Harbour House"', '\t|', offers = { 'title' } },
  { 'guestbook/types.yaml', '    derived_from: tosca.nodes.Compute', '    derived_from: tosca.nodes.Com|', offers = { 'tosca.nodes.Compute' } },
}

local function say(place, why) table.insert(wrong, place[1] .. ': ' .. (place[3] or place[2]) .. ': ' .. why) end

-- The cursor may stand behind the last letter of a line, as where somebody types.
vim.o.virtualedit = 'onemore'
vim.o.hidden = true
vim.cmd('cd ' .. vim.fn.fnameescape(examples))
local client = vim.lsp.start_client({ name = 'cuvee', cmd = { cuvee, 'lsp' }, root_dir = examples, flags = { debounce_text_changes = 0 }, workspace_folders = { { uri = vim.uri_from_fname(examples), name = 'examples' } } })

-- Files that are renamed in are open from then on.
vim.api.nvim_create_autocmd('BufReadPost', { callback = function(read) vim.lsp.buf_attach_client(read.buf, client) end })

local function ask(buffer, method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  local answer = answers and answers[client] or {}
  return { result = answer.result, err = answer.err or answer.error }
end

local function open(place)
  vim.cmd('edit! ' .. vim.fn.fnameescape(place[1]))
  local buffer = vim.api.nvim_get_current_buf()
  vim.lsp.buf_attach_client(buffer, client)
  if not vim.wait(30000, function() local it = vim.lsp.get_client_by_id(client) return it ~= nil and it.initialized end, 20) then
    say(place, 'there is no server')
  end
  return buffer
end

-- Writes what is to be at a place, and sets the cursor.
local function write(place)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  local line = vim.fn.search('^\\V' .. place[2]:gsub('\\', '\\\\'), 'cw')
  if line == 0 then return false end
  local text = place[3] or vim.fn.getline(line)
  local column = (text:find('|', 1, true) or (text:find(place.word or '', 1, true) + 1)) - 1
  vim.fn.setline(line, (text:gsub('|', '', 1)))
  if place.behind then vim.fn.append(line, vim.split(place.behind, '\n')) end
  if place.before then
    -- A node of its own, above the one that the cursor is in.
    local node = vim.fn.search('^    [a-z_]*:', 'bcn')
    local lines = vim.split(place.before, '\n')
    vim.fn.append(node - 1, lines)
    line = line + #lines
  end
  vim.api.nvim_win_set_cursor(0, { line, column })
  return true
end

local function complete(place, buffer)
  local answer = ask(buffer, 'textDocument/completion', vim.lsp.util.make_position_params())
  local offered = {}
  for _, item in ipairs((answer.result or {}).items or {}) do offered[item.label] = true end
  for _, word in ipairs(place.offers) do if not offered[word] then say(place, word .. ' is not offered') end end
  for _, word in ipairs(place.never or {}) do if offered[word] then say(place, word .. ' is offered') end end
end

local function rename(place, buffer)
  local params = vim.lsp.util.make_position_params()
  params.newName = place.rename or 'other'
  local answer = ask(buffer, 'textDocument/rename', params)
  if place.refused then
    local why = answer.err and answer.err.message or 'it is renamed'
    if not why:find(place.refused, 1, true) then say(place, why) end
    return
  end
  if not answer.result then return say(place, answer.err and answer.err.message or 'no answer') end
  vim.lsp.util.apply_workspace_edit(answer.result, 'utf-16')
  local count = 0
  for _, edits in pairs(answer.result.changes) do count = count + #edits end
  if count ~= place.count then say(place, count .. ' words are renamed, not ' .. place.count) end
  -- Back from another place: what was renamed is a name there.
  local back = ask(buffer, 'textDocument/prepareRename', vim.lsp.util.make_position_params())
  if not back.result or back.result.placeholder ~= place.rename then say(place, 'the new name is none') end
end

local count = 0
for _, place in ipairs(places) do
  do
    local buffer = open(place)
    if not write(place) then
      say(place, 'there is no such line')
    elseif place.offers then
      complete(place, buffer)
    else
      rename(place, buffer)
    end
    vim.cmd('silent! bufdo edit!')
    count = count + 1
  end
end
print(count .. ' places in Neovim')
if #wrong > 0 then
  io.stderr:write(table.concat(wrong, '\n') .. '\n')
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
