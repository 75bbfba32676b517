-- OSRM's profile for a file that `chronoforest export city.osm.pbf` wrote: the speeds are those that were
-- recorded, so nothing is taken off them and turns cost nothing more.
--
--   osrm-extract -p examples/recorded.lua city.osm.pbf && osrm-contract city.osrm && osrm-routed city.osrm

api_version = 4

function setup()
  return {
    properties = {
      weight_name = 'duration',
      continue_straight_at_waypoint = true,
      use_turn_restrictions = true,
      max_speed_for_map_matching = 50,
      u_turn_penalty = 0
    }
  }
end

function process_node() end

function process_way(_, way, result)
  local speed = tonumber(way:get_value_by_key('maxspeed'))
  result.forward_mode, result.backward_mode = mode.driving, mode.inaccessible
  result.forward_speed = tonumber(way:get_value_by_key('maxspeed:forward')) or speed
  if way:get_value_by_key('oneway') == 'no' then
    result.backward_mode = mode.driving
    result.backward_speed = tonumber(way:get_value_by_key('maxspeed:backward'))
  end
end

function process_turn() end

return { setup = setup, process_way = process_way, process_node = process_node, process_turn = process_turn }
